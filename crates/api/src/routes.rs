//! Every route, in one list, and the document that describes them.

use axum::{Router, middleware, routing};
use riverrun_runtime::Runtime;
use riverrun_triggers::Triggers;
use utoipa::{
    OpenApi,
    openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder},
};
use utoipa_axum::{router::UtoipaMethodRouter, routes};

use crate::{
    app::{Api, ApiOptions},
    awaits, call_socket, callbacks, calls, dead_letters, docs_page, edge, event_socket, events,
    executions, flows, handlers, health, hooks, jobs, kinds, queues, run_actions, run_history,
    run_reads, schemas, sse, start, stories, triggers, unheard, workers,
};

/// The routes of a runtime, ready to be served.
pub fn router(runtime: Runtime, triggers: Triggers, options: ApiOptions) -> Router {
    let api = Api::new(runtime, triggers, options);
    let mut router = Router::new();
    for route in ROUTES {
        let (_, paths, methods) = route();
        for path in paths.paths.keys() {
            for path in spellings(path) {
                router = router.route(&path, methods.clone());
            }
        }
    }
    // One operation of the document stands for all methods.
    let others = routing::get(hooks::fire_hook)
        .put(hooks::fire_hook)
        .patch(hooks::fire_hook)
        .delete(hooks::fire_hook);
    router
        .route(hooks::ROUTE, others)
        // Where the specifications listen to queues. A queue may be called `ws`, so it has no other
        // spelling.
        .route("/api/_queue/ws", routing::get(event_socket::event_socket))
        .fallback(edge::not_found)
        .method_not_allowed_fallback(edge::method_not_allowed)
        // One layer does all: each one of its own costs every request several allocations.
        .layer(middleware::from_fn_with_state(api.clone(), edge::around))
        .with_state(api)
}

/// Everything but the list of paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "riverrun",
        description = "One server for durable flows, jobs and calls. Every run is one ordered stream of events: follow it live, read its state at any point in time, resume it after a crash, fork it from any event.",
        license(name = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "flows", description = "Definitions: registered under an id and a version, and never changed"),
        (name = "runs", description = "Runs of every kind: started, read, paused, cancelled, forked"),
        (name = "events", description = "Streams of events: read, followed live, appended to"),
        (name = "executions", description = "Runs in FlowMonkey's shape"),
        (name = "queues", description = "Queues: jobs added and listed; queues paused, cleared, redriven"),
        (name = "jobs", description = "Jobs of queues, and the leased work behind runs"),
        (name = "calls", description = "Direct calls of processes, without a queue"),
        (name = "workers", description = "Remote workers: connected, listed, drained"),
        (name = "triggers", description = "Triggers start flows; callbacks resume a waiting step"),
        (name = "handlers", description = "The types of steps that this server can run"),
        (name = "server", description = "Health, version, documentation")
    ),
    components(schemas(schemas::Failure))
)]
struct Document;

/// The OpenAPI document, made from the handlers.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let components = document.components.get_or_insert_default();
    for route in ROUTES {
        let (schemas, paths, _) = route();
        components.schemas.extend(schemas);
        for (path, item) in paths.paths {
            // A wildcard is the router's way to write a parameter.
            let path = path.replace("{*", "{");
            match document.paths.paths.get_mut(&path) {
                Some(known) => known.merge_operations(item),
                None => {
                    document.paths.paths.insert(path, item);
                }
            }
        }
    }
    let refused = any_failure();
    for item in document.paths.paths.values_mut() {
        let operations = [
            &mut item.get,
            &mut item.post,
            &mut item.patch,
            &mut item.delete,
        ];
        for operation in operations.into_iter().flatten() {
            let responses = &mut operation.responses.responses;
            responses.insert("default".to_owned(), RefOr::T(refused.clone()));
        }
    }
    document
}

/// What every operation may answer with as well.
fn any_failure() -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Failure")))
        .build();
    ResponseBuilder::new()
        .description("Any failure, in the one shape")
        .content("application/json", content)
        .build()
}

/// Every route with its description. They are built one at a time: utoipa needs eight megabytes for
/// all of them at once, and most servers are never asked for the document.
const ROUTES: &[fn() -> UtoipaMethodRouter<Api>] = &[
    || routes!(callbacks::resume_callback),
    || routes!(callbacks::resume_callback_of_flow),
    || routes!(callbacks::approval_page, callbacks::approve),
    || routes!(flows::list_flows, flows::register_flow),
    || routes!(flows::validate_flow),
    || routes!(flows::get_flow),
    || routes!(flows::flow_versions),
    || routes!(flows::flow_runs),
    || routes!(run_reads::get_flow_run),
    || routes!(run_actions::cancel_flow_run),
    || routes!(flows::flow_diagram),
    || routes!(start::start_run),
    || routes!(run_reads::list_runs),
    || routes!(run_reads::get_run, run_actions::delete_run),
    || routes!(events::run_events),
    || routes!(run_reads::run_state),
    || routes!(run_history::run_history),
    || routes!(run_reads::run_children),
    || routes!(run_reads::run_why),
    || routes!(run_reads::run_awaits),
    || routes!(jobs::run_jobs),
    || routes!(sse::follow_run),
    || routes!(run_actions::cancel_run),
    || routes!(run_actions::pause_run),
    || routes!(run_actions::resume_run),
    || routes!(run_actions::rerun_run),
    || routes!(run_actions::fork_run),
    || routes!(run_actions::import_run),
    || routes!(kinds::events_of_kind, events::emit_event),
    || routes!(event_socket::event_socket),
    || routes!(events::stream_events),
    || routes!(stories::get_story),
    || routes!(unheard::get_unheard),
    || routes!(awaits::get_await_stats),
    || routes!(sse::follow_named),
    || routes!(events::list_streams),
    || routes!(events::get_stream, events::append_events),
    || routes!(sse::follow_stream),
    || routes!(executions::list_executions),
    || routes!(executions::get_execution),
    || routes!(executions::execution_events),
    || routes!(executions::execution_jobs),
    || routes!(jobs::list_jobs, jobs::remove_job_by_id),
    || routes!(jobs::get_job, jobs::change_job, jobs::remove_job),
    || routes!(jobs::retry_job),
    || routes!(jobs::cancel_job),
    || routes!(jobs::promote_job),
    || routes!(queues::list_queues),
    || routes!(queues::get_queue),
    || routes!(queues::queue_jobs, queues::add_jobs),
    || routes!(queues::pause_queue),
    || routes!(queues::resume_queue),
    || routes!(queues::clear_queue),
    || routes!(queues::clean_queue),
    || routes!(dead_letters::dead_letters),
    || routes!(dead_letters::redrive),
    || routes!(dead_letters::purge),
    || routes!(triggers::list_triggers, triggers::create_trigger),
    || {
        routes!(
            triggers::get_trigger,
            triggers::change_trigger,
            triggers::remove_trigger
        )
    },
    || routes!(triggers::enable_trigger),
    || routes!(triggers::disable_trigger),
    || routes!(triggers::fire_trigger),
    || routes!(triggers::trigger_history),
    || routes!(triggers::trigger_stats),
    || routes!(triggers::list_schedules),
    || routes!(triggers::backfill_schedule),
    || routes!(hooks::fire_hook),
    || routes!(calls::execute),
    || routes!(call_socket::call_socket),
    || routes!(calls::list_processes),
    || routes!(workers::list_workers),
    || routes!(workers::worker_socket),
    || routes!(workers::drain_worker),
    || routes!(handlers::list_handlers),
    || routes!(handlers::get_handler),
    || routes!(handlers::get_flow_schema),
    || routes!(health::healthz),
    || routes!(health::readyz),
    || routes!(health::version),
    || routes!(docs_page::openapi_json),
    || routes!(docs_page::docs),
    || routes!(docs_page::error_index),
    || routes!(docs_page::error_page),
    || routes!(docs_page::index),
];

/// The ways to write a path: the specifications put an underscore before the first segment, call
/// flows `flow` and queues `queue`, and clear a queue with `drain`. Routes of their own cost a
/// request nothing; a rewrite would.
fn spellings(path: &str) -> Vec<String> {
    let Some(rest) = path.strip_prefix("/api/") else {
        return vec![path.to_owned()];
    };
    let mut names = vec![rest.to_owned()];
    names.extend(rest.strip_prefix("flows").map(|rest| format!("flow{rest}")));
    names.extend(
        rest.strip_prefix("queues")
            .map(|rest| format!("queue{rest}")),
    );
    if rest == "queues/{name}/clear" {
        let drained = names.iter().map(|name| name.replace("/clear", "/drain"));
        names.extend(drained.collect::<Vec<_>>());
    }
    let spelled = |name: &String| [format!("/api/{name}"), format!("/api/_{name}")];
    names.iter().flat_map(spelled).collect()
}
