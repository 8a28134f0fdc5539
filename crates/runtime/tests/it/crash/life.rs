//! Lives: a process on a folder, from its start to its death or to the end of the story.

use std::{path::Path, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{
    CallbackAnswer, Options, Process, ProcessConfig, Runtime, Source, StartRequest,
};
use riverrun_store::{EventQuery, Store};
use riverrun_store_conformance::{mortal::Mortal, through::Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, RunId, StreamName};
use serde_json::{Value, json};

use super::{
    code::{Coded, Script},
    world::World,
};

pub const LONG: Duration = Duration::from_secs(30);
/// Long enough for anything that one waits for.
const ENOUGH: Duration = Duration::from_secs(15);

/// Moments of the second life, at most.
const SECOND_LIFE: usize = 7;

/// The work of the test, with crashes in it.
pub struct Story {
    pub flows: Vec<Value>,
    pub processes: Vec<(&'static str, Value, Script)>,
    /// The world outside. It begins anew in each life and knows what was recorded before.
    pub client: fn(Alive) -> BoxFuture<'static, ()>,
}

/// A process that runs.
#[derive(Clone)]
pub struct Alive {
    pub runtime: Runtime,
    pub world: Arc<World>,
}

/// Tells a story until it comes to its end in its first life. Says how many deaths that took.
pub fn survives(story: &Story) -> usize {
    for moment in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let world = Arc::new(World::default());
        eprintln!("the first life ends at moment {moment}");
        if live(story, folder.path(), &world, moment) {
            return moment;
        }
        let again = moment % SECOND_LIFE;
        if !live(story, folder.path(), &world, again) {
            assert!(live(story, folder.path(), &world, usize::MAX));
        }
    }
    unreachable!("every story ends")
}

/// Whether it lived to the end of the story.
fn live(story: &Story, folder: &Path, world: &Arc<World>, moments: usize) -> bool {
    let threads = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let mortal = Arc::new(Mortal::after(moments));
    let lived = threads.block_on(async {
        let options = riverrun_store_sqlite::Options::new(folder);
        let store = SqliteStore::open(options).unwrap();
        let store = Through::new(store, mortal.clone());
        let telling = tokio::spawn(tell(story_of(story), store, world.clone()));
        tokio::select! {
            ended = tokio::time::timeout(LONG, telling) => {
                ended.expect("the story does not come to its end").unwrap();
                true
            }
            () = mortal.died() => false,
        }
    });
    // Whatever was under way is dropped where it stands.
    threads.shutdown_timeout(LONG);
    lived
}

fn story_of(story: &Story) -> Story {
    Story {
        flows: story.flows.clone(),
        processes: story.processes.clone(),
        client: story.client,
    }
}

async fn tell(story: Story, store: Arc<dyn Store>, world: Arc<World>) {
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let handlers = riverrun_handlers::all(Default::default());
    let options = Options {
        grace: Duration::from_millis(50),
        ..Options::default()
    };
    let runtime = Runtime::open(store, sandbox, handlers, options);
    let runtime = runtime.await.unwrap();
    for (id, config, script) in story.processes {
        let config = ProcessConfig::read(&Json::of(&config), id);
        runtime.queues().put_process(Process {
            id: id.into(),
            config: config.unwrap_or_else(|issues| panic!("{issues:#?}")),
            provider: Arc::new(Coded {
                script,
                world: world.clone(),
            }),
            source: Source::default(),
        });
    }
    for flow in &story.flows {
        runtime.flows().register(flow).await.unwrap();
    }
    let alive = Alive { runtime, world };
    (story.client)(alive.clone()).await;
    assert_eq!(alive.world.broken(), [""; 0]);
    alive.nothing_is_left().await;
    alive.runtime.shutdown().await.unwrap();
}

impl Alive {
    /// Starts the run of a key, or finds it.
    pub async fn start(&self, flow: &str, input: Value) -> RunId {
        let mut request = StartRequest::new(flow, Json::of(&input));
        request.idempotency_key = Some("key".to_owned());
        let run = self.runtime.runs().start(request).await.unwrap().run;
        let request = format!("start of {flow}");
        self.world.answered(&request, json!(run));
        run
    }

    /// Waits until the stream of a run has an event of a type, or the run has ended.
    pub async fn until(&self, run: &RunId, kind: &str) {
        let mut tail = self.runtime.streams().tail(StreamName::flow(run), 0);
        loop {
            let events = self.events(run).await;
            let is_it = |event: &Event| {
                [kind, "flow.completed", "flow.failed"].contains(&event.kind.as_str())
            };
            if events.iter().any(is_it) {
                return;
            }
            let more = tokio::time::timeout(ENOUGH, tail.next()).await;
            assert!(more.is_ok(), "no {kind} comes: {events:#?}");
        }
    }

    pub async fn events(&self, run: &RunId) -> Vec<Event> {
        self.stream(&StreamName::flow(run)).await
    }

    pub async fn stream(&self, stream: &StreamName) -> Vec<Event> {
        let query = EventQuery::forward(0, 1_000);
        self.runtime
            .base()
            .store()
            .events(stream, &query)
            .await
            .unwrap()
    }

    /// Emits an event, unless that was acknowledged in an earlier life.
    pub async fn emit(&self, kind: &str, data: Value) {
        let request = format!("emit {kind} {data}");
        if self.world.answer(&request).is_some() {
            return;
        }
        let event = Json::of(&json!({"type": kind, "data": data}));
        let stream = StreamName::new("global", "global");
        self.runtime
            .events()
            .append(&stream, &[event])
            .await
            .unwrap();
        self.world.answered(&request, json!(true));
    }

    /// Resumes a callback with a value, and returns the answer: `resumed` or a code.
    pub async fn open(&self, callback: &str, value: Value) -> String {
        let callback_answer = CallbackAnswer {
            payload: Json::of(&value),
            body: b"",
            signature: None,
            source: "test",
        };
        match self
            .runtime
            .awaits()
            .resume_callback(callback, callback_answer)
            .await
        {
            Ok(_) => "resumed".to_owned(),
            Err(error) => error.code().to_string(),
        }
    }

    /// The callbacks of a run that the streams know.
    pub async fn callback_of(&self, run: &RunId) -> Option<String> {
        let events = self.events(run).await;
        let at = |event: &Event| event.kind.as_str() == "step.await.trigger";
        let event = events.into_iter().find(at)?;
        let data = event.data.unwrap().value();
        Some(data["triggerId"].as_str().unwrap().to_owned())
    }

    /// How the run ended: its result, once all that is promised of it was checked.
    pub async fn end(&self, run: &RunId) -> Value {
        let view = self.runtime.runs().wait(run, ENOUGH).await.unwrap();
        let state = &view.loaded.state;
        assert!(state.status.is_ended(), "{state:#?}");
        self.is_sound(run).await;
        match &state.error {
            Some(error) => json!({"failed": error.code}),
            None => state.result.as_ref().map_or(Value::Null, Json::value),
        }
    }
}
