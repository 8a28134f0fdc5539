//! Callbacks: a request with the id resumes the step that waits for it.

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{Html, IntoResponse, Response},
};
use riverrun_runtime::{CallbackAnswer, StoredCallback};
use riverrun_store::Error as StoreError;
use riverrun_types::{ErrorCode, Json, Millis, TriggerType, time::iso};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    app::Api,
    edge::RequestId,
    errors::ApiError,
    extract::{Raw, Segments, read, read_object},
    html::escape,
    reply::{Answer, ok},
    schemas::{self, FireBody},
    start::started_answer,
    triggers::fire,
};

/// What the paths of pages for people begin with.
pub(crate) const PAGES: &str = "/approve/";

/// The answer to a request that resumed a callback.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Opened {
    success: bool,
    trigger_id: String,
    run_id: String,
}

/// Answer a callback
///
/// Resumes the step that waits for the callback (`ctx.await.trigger`, or `await: {type: trigger}` in
/// its config); the step receives the body. A callback is answered once, unless it was created for
/// many. If no step waits for the id and a trigger has it, the trigger is fired, as by
/// `/api/triggers/{id}/fire`.
#[utoipa::path(post, path = "/api/triggers/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The id of the callback, which cannot be guessed")),
    request_body(content = serde_json::Value, description = "Any JSON, or nothing"),
    responses(
        (status = 200, description = "Stored: the step resumes", body = Opened),
        (status = 201, description = "A trigger has this id: a run was started", body = schemas::StartedRun),
        (status = 401, description = ErrorCode::SignatureInvalid, body = schemas::Failure),
        (status = 404, description = "AWAIT_NOT_FOUND: no callback and no trigger has this id", body = schemas::Failure),
        (status = 409, description = ErrorCode::AwaitUsed, body = schemas::Failure),
        (status = 410, description = "AWAIT_EXPIRED, or AWAIT_CLOSED: no step waits for it any more", body = schemas::Failure),
        (status = 413, description = "TOO_LARGE: a body may have 1 MiB", body = schemas::Failure)))]
pub(crate) async fn resume_callback(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Extension(request_id): Extension<RequestId>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Answer {
    let payload = payload(&body, &headers)?;
    match open(&api, &id, payload, &body, &headers, "api").await {
        Err(error) if error.code() == ErrorCode::AwaitNotFound && api.triggers().is_kept(&id) => {
            let wanted = match body.iter().all(u8::is_ascii_whitespace) {
                true => FireBody::default(),
                false => read_object(&body).map_err(not_of_a_trigger)?,
            };
            started_answer(fire(&api, &id, request_id, wanted).await?)
        }
        opened => ok(&opened?),
    }
}

/// A body that a step could have been given, and a trigger cannot.
fn not_of_a_trigger(error: ApiError) -> ApiError {
    match error.code() {
        ErrorCode::BadRequest => error.with_code(ErrorCode::Unprocessable),
        _ => error,
    }
}

/// Answer a callback, at the path of the specifications
#[utoipa::path(post, path = "/api/flows/triggers/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The id of the callback, which cannot be guessed")),
    request_body(content = serde_json::Value, description = "Any JSON, or nothing"),
    responses((status = 200, description = "Stored: the step resumes", body = Opened)))]
pub(crate) async fn resume_callback_of_flow(
    api: State<Api>,
    id: Segments<String>,
    request_id: Extension<RequestId>,
    headers: HeaderMap,
    body: Raw,
) -> Answer {
    resume_callback(api, id, request_id, headers, body).await
}

async fn open(
    api: &Api,
    id: &str,
    payload: Json,
    body: &[u8],
    headers: &HeaderMap,
    source: &str,
) -> Result<Opened, ApiError> {
    let signature = ["x-riverrun-signature", "x-hub-signature-256"]
        .iter()
        .find_map(|name| headers.get(*name)?.to_str().ok());
    let callback_answer = CallbackAnswer {
        payload,
        body,
        signature,
        source,
    };
    let record = api
        .runtime()
        .awaits()
        .resume_callback(id, callback_answer)
        .await?;
    Ok(Opened {
        success: true,
        trigger_id: id.to_owned(),
        run_id: record.run.to_string(),
    })
}

/// What was handed in. Webhooks send what they like: a form is an object, and what is not JSON and
/// does not claim to be is its text.
fn payload(body: &[u8], headers: &HeaderMap) -> Result<Json, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Json::null());
    }
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    // Programs that send JSON, or a word, say that it is a form unless they are configured
    // otherwise.
    let is_form = kind.starts_with("application/x-www-form-urlencoded") && body.contains(&b'=');
    match read::<Json>(body) {
        Err(_) if is_form => Ok(Json::of(&riverrun_triggers::pairs(body))),
        Err(_) if !kind.contains("json") && !kind.is_empty() => {
            Ok(Json::of(&String::from_utf8_lossy(body)))
        }
        read => read,
    }
}

/// Show the approval page of a callback
///
/// For callbacks of the type `user`: the question and two buttons, or that it was answered.
#[utoipa::path(get, path = "/approve/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The id of the callback, which cannot be guessed")),
    responses(
        (status = 200, description = "The question, or that it was answered", content_type = "text/html"),
        (status = 403, description = "The callback is not for people", content_type = "text/html"),
        (status = 404, description = "There is no such callback", content_type = "text/html"),
        (status = 410, description = "The callback has expired, or no step waits for it any more", content_type = "text/html")))]
pub(crate) async fn approval_page(
    State(api): State<Api>,
    Segments(id): Segments<String>,
) -> Response {
    match api.runtime().awaits().callback(&id).await {
        Ok(callback) => Shown::of(&callback, api.runtime().base().now_ms()).page(&callback),
        Err(error) => failed(&error.into()),
    }
}

/// Answer on the approval page
#[utoipa::path(post, path = "/approve/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The id of the callback, which cannot be guessed")),
    request_body(content = String, content_type = "application/x-www-form-urlencoded",
        description = "`answer=approve|reject` and `comment`"),
    responses(
        (status = 200, description = "The answer was stored", content_type = "text/html"),
        (status = 400, description = "The answer is neither approve nor reject", content_type = "text/html"),
        (status = 403, description = "The callback is not for people", content_type = "text/html"),
        (status = 404, description = "There is no such callback", content_type = "text/html"),
        (status = 409, description = "The callback was answered before", content_type = "text/html"),
        (status = 410, description = "The callback has expired, or no step waits for it any more", content_type = "text/html")))]
pub(crate) async fn approve(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Response {
    match answer(&api, &id, &headers, &body).await {
        Ok(answered) => answered,
        Err(error) => failed(&error),
    }
}

async fn answer(
    api: &Api,
    id: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Response, ApiError> {
    #[derive(serde::Deserialize)]
    struct Form {
        answer: String,
        #[serde(default)]
        comment: String,
    }
    let callback = api.runtime().awaits().callback(id).await?;
    match Shown::of(&callback, api.runtime().base().now_ms()) {
        Shown::Question => {}
        Shown::Answered(_) => return Ok(status_page(StatusCode::CONFLICT, BEFORE, "")),
        other => return Ok(other.page(&callback)),
    }
    let form = serde_urlencoded::from_bytes::<Form>(body).ok();
    let known = |form: &Form| matches!(&*form.answer, "approve" | "reject");
    let Some(Form { answer, comment }) = form.filter(known) else {
        let back = "<p>Nothing was decided. <a href=\"\">Back</a></p>";
        let what = "An answer is approve or reject.";
        return Ok(status_page(StatusCode::BAD_REQUEST, what, back));
    };
    let approved = answer == "approve";
    let payload = serde_json::json!({"approved": approved, "comment": comment});
    match open(api, id, Json::of(&payload), body, headers, "user").await {
        Ok(_) => Ok(Shown::Answered(Some(approved)).page(&callback)),
        // Somebody was faster.
        Err(error) if error.code() == ErrorCode::AwaitUsed => {
            Ok(status_page(StatusCode::CONFLICT, BEFORE, ""))
        }
        Err(error) => Err(error),
    }
}

const BEFORE: &str = "This was answered before. Your answer was not taken.";

/// The states that the page of a callback shows.
enum Shown {
    Question,
    /// Whether it was approved, if that is known.
    Answered(Option<bool>),
    /// The timeout was over before an answer came.
    Late,
    /// Its run was cancelled, or continued without it.
    Closed,
    /// The callback is for programs and has no page.
    Program,
}

impl Shown {
    fn of(StoredCallback { record, callback }: &StoredCallback, now_ms: Millis) -> Self {
        if callback.kind != TriggerType::User || callback.is_signed() {
            return Self::Program;
        }
        let answer = || record.values.last()?.get("approved")?.value().as_bool();
        match record.refusal(now_ms) {
            None if callback.count.is_some_and(|count| record.fired >= count) => {
                Self::Answered(answer())
            }
            None => Self::Question,
            Some(StoreError::AwaitExpired(_)) => Self::Late,
            Some(StoreError::AwaitClosed(_)) => Self::Closed,
            Some(_) => Self::Answered(answer()),
        }
    }

    /// Everything on it that comes from a flow is text, never markup.
    fn page(&self, StoredCallback { record, callback }: &StoredCallback) -> Response {
        let asked = callback.payload.as_ref();
        let asked = asked.map_or(String::new(), |payload| asked_for(&payload.value()));
        match self {
            Self::Question => {
                let until = record.expires_ms.map_or(String::new(), |until| {
                    format!("<p>Until {}</p>", escape(&iso(until)))
                });
                html(StatusCode::OK, question(&record.step, &asked, &until))
            }
            Self::Answered(answer) => {
                let what = match answer {
                    Some(true) => "This has been approved.",
                    Some(false) => "This has been rejected.",
                    None => "This has been answered.",
                };
                status_page(StatusCode::OK, what, &asked)
            }
            Self::Late => status_page(StatusCode::GONE, "The time for this is over.", &asked),
            Self::Closed => status_page(StatusCode::GONE, "This is not asked any more.", &asked),
            Self::Program => {
                status_page(StatusCode::FORBIDDEN, "This is answered by a program.", "")
            }
        }
    }
}

/// The payload as the page shows it: a text as it is, anything else as JSON.
fn asked_for(payload: &Value) -> String {
    match payload {
        Value::Null => String::new(),
        Value::String(text) => format!("<p class=\"asked\">{}</p>", escape(text)),
        payload => {
            let text = serde_json::to_string_pretty(payload).unwrap_or_default();
            format!("<pre>{}</pre>", escape(&text))
        }
    }
}

/// A page that says why there is no other.
pub(crate) fn failed(error: &ApiError) -> Response {
    match error.code() {
        ErrorCode::ForbiddenOrigin => {
            let more = "<p>Nothing was decided. Open the link by itself, and answer there.</p>";
            status_page(error.status(), "This page may not answer.", more)
        }
        ErrorCode::AwaitNotFound => {
            status_page(error.status(), "There is nothing to decide here.", "")
        }
        ErrorCode::TooLarge => status_page(error.status(), "The comment is too long.", ""),
        code => {
            let more = format!("<p>{}</p>", escape(code.as_str()));
            status_page(error.status(), "This cannot be decided now.", &more)
        }
    }
}

fn status_page(status: StatusCode, what: &str, more: &str) -> Response {
    html(status, document(&format!("<h1>{what}</h1>{more}")))
}

fn html(status: StatusCode, body: String) -> Response {
    let headers = [
        (header::CACHE_CONTROL, "no-store"),
        // The id is a secret that no other site gets. With less said, a browser hides from its own
        // server where an answer comes from, and the answer would be refused.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
        ),
    ];
    (status, headers, Html(body)).into_response()
}

const STYLE: &str = "body{font:16px/1.5 system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem}.asked{white-space:pre-line}pre{background:#f4f4f4;padding:1rem;overflow:auto}button{font:inherit;padding:.5rem 1.5rem;margin-right:.5rem}textarea{width:100%;font:inherit}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}pre{background:#222}}";

fn document(body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>riverrun</title><style>{STYLE}</style>{body}</html>"
    )
}

fn question(step: &str, asked: &str, until: &str) -> String {
    let step = escape(step);
    document(&format!(
        "<h1>{step}</h1>{asked}{until}<form method=\"post\"><p><textarea name=\"comment\" rows=\"3\" placeholder=\"Comment\"></textarea></p><button name=\"answer\" value=\"approve\">Approve</button><button name=\"answer\" value=\"reject\">Reject</button></form>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_flow_says_is_text() {
        let asked = escape(r#"<script>alert("x")</script>&'"#);
        assert_eq!(
            asked,
            "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;"
        );
        assert!(!question("<b>", "", "").contains("<b>"));
        let shown = asked_for(&serde_json::json!("Refund <7>?"));
        assert_eq!(shown, "<p class=\"asked\">Refund &lt;7&gt;?</p>");
    }
}
