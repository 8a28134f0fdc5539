//! Codes of requests to the HTTP API that say nothing about flows, runs or jobs.

macro_rules! requests {
    ($($before:tt)*) => { collect! { $($before)*

BadCursor "BAD_CURSOR" Request(400) Reject {
    what: "The server rejected the cursor of a list or stream.",
    why: "The cursor was cut, changed, or comes from another list or stream.",
    fix: "Pass `nextCursor`, or the id of an event, unchanged from an earlier answer of the same route. \
          Leave the cursor out to start at the beginning.",
}
BadHeader "BAD_HEADER" Request(400) Reject {
    what: "A request header is missing or was sent more than once.",
    why: "These headers may be sent only once: `Host` (required in HTTP/1.1), `Origin`, \
          `Sec-Fetch-Site`, `Content-Type`, `Content-Encoding`, `Idempotency-Key`, `Last-Event-ID`. \
          A proxy in between may have added a second one.",
    fix: "Send the header that `details.header` names exactly once. To compare with a correct request, \
          run the same one with `curl -v`.",
}
BadId "BAD_ID" Request(400) Reject {
    what: "The server rejected an id or the name of a queue.",
    why: "It is empty, longer than 128 characters, contains other characters than letters, digits, \
          `-`, `_`, `.` and `~`, or is reserved: `.` and `..` change the meaning of a path, and \
          `latest` means the newest run or job.",
    fix: "Use 1 to 128 of the allowed characters, such as `order-42`.",
}
BadJson "BAD_JSON" Request(400) Reject {
    what: "The server cannot parse the body of the request.",
    why: "The body is not JSON, or it is JSON that parsers disagree about: half a surrogate pair, a \
          number that no machine type holds, or more than 120 levels of brackets. Shell quoting is \
          the most common cause.",
    fix: "Correct the line and column in `details`. In a shell, put the body into a file and send it \
          with `curl --data-binary @body.json`, or with `-d @body.json` of `riverrun`.",
}
BadQuery "BAD_QUERY" Request(400) Reject {
    what: "The server rejected a query parameter.",
    why: "The route does not have the parameter, the parameter was given twice, or its value is \
          invalid or out of range.",
    fix: "Correct the parameter that `details.parameter` names. `/api/docs` on the server lists the \
          parameters of every route.",
}
BadRequest "BAD_REQUEST" Request(400) Reject {
    what: "The server rejected a field of the request.",
    why: "The body is valid JSON, but a field is unknown, missing, of the wrong type or out of range.",
    fix: "Correct the field that the message names. `/api/docs` on the server shows the shape of \
          every body.",
}
BodyTimeout "BODY_TIMEOUT" Request(408) Retry {
    what: "The server stopped waiting for the body of the request.",
    why: "The client did not send the whole body within 25 s. The connection is slow or broken, or \
          `Content-Length` is larger than the body.",
    fix: "Send the request again. If it happens again, check the connection and any proxy in between.",
}
Busy "BUSY" Request(503) Retry {
    what: "The server gave up on the request because the run or job changed too quickly.",
    why: "Every write is checked against the latest version of its stream. Other writers were faster \
          on every attempt.",
    fix: "Send the request again. If it keeps failing, look for the writer in `riverrun runs events \
          <id> --follow` or `riverrun jobs logs <id> --follow`.",
}
Conflict "CONFLICT" Request(409) Retry {
    what: "The run, job or stream changed while the server decided, and nothing was written.",
    why: "Another request or worker wrote first.",
    fix: "Read the current state, for example with `riverrun runs show <id>`, and send the request \
          again if it still makes sense.",
}
Duplicate "DUPLICATE" Request(409) GiveUp {
    what: "A run with this idempotency key exists, so no second one was started.",
    why: "An earlier request started a run with the same key. This is what the key is for.",
    fix: "Read the run that the message names: `riverrun runs show <id>`. To start another run, use \
          another key.",
}
DuplicateMember "DUPLICATE_MEMBER" Request(400) Reject {
    what: "An object in the request has the same member twice.",
    why: "Parsers disagree about which of the two counts, so the server accepts neither. This rule \
          holds for bodies, options of jobs, events, and definitions of flows and triggers, in JSON \
          and YAML. Inputs, job data and other payloads are stored as they are.",
    fix: "Remove one of the two members that the message names.",
}
ForbiddenHost "FORBIDDEN_HOST" Request(403) Reject {
    what: "The server rejected the request because of the host name in it.",
    why: "A server that listens on this machine only answers to `localhost` and loopback addresses, \
          so that no web page can reach it through a DNS name of its own. Other names must be allowed.",
    fix: "Use the address that the server prints when it starts. If the name is right, allow it: \
          `riverrun serve --set allowed_hosts=flows.example.org`.",
}
ForbiddenOrigin "FORBIDDEN_ORIGIN" Request(403) Reject {
    what: "The server rejected a request that a web page of another origin made.",
    why: "A page elsewhere may not change anything, open a WebSocket or call the path of an http \
          trigger. Otherwise every page that a user opens could control the server. Links, such as \
          those of approvals, work from everywhere.",
    fix: "Call the API from a page that this server serves, or from a program. Behind a proxy, set the \
          address that people open as `public_url`: `riverrun serve --public-url <url>`.",
}
Internal "INTERNAL" Request(500) GiveUp {
    what: "The server failed because of a defect in riverrun. The request may or may not have taken \
           effect.",
    why: "A step of the server's own code failed in a way that it does not expect.",
    fix: "Read the affected run or job before you repeat the request. Report the defect with the \
          request id, which is in `details` and in the header `x-request-id`, and the log lines \
          around it.",
}
MethodNotAllowed "METHOD_NOT_ALLOWED" Request(405) Reject {
    what: "The route exists, but not with this HTTP method.",
    why: "The request used a method that the route, or the path of an http trigger, does not have.",
    fix: "Use one of the methods in the response header `Allow`. `/api/docs` on the server lists all \
          routes.",
}
NotFound "NOT_FOUND" Request(404) Reject {
    what: "No route has this path.",
    why: "The path is misspelt, belongs to another version of riverrun, or is the path of an http \
          trigger that was removed.",
    fix: "Compare the path with `/api/docs` on the server. For paths of http triggers run `riverrun \
          triggers ls --type http`.",
}
RequestTimeout "REQUEST_TIMEOUT" Request(504) Retry {
    what: "The request took longer than the server allows. It may still take effect.",
    why: "The server, its disk or its expressions are overloaded, or the request asks for too much \
          at once. The limit is `limits.request_timeout`, 30 s by default.",
    fix: "Read what the request would have changed before you send it again, or send it with an \
          idempotency key. If it happens often, look at the load with `riverrun top`.",
}
ShuttingDown "SHUTTING_DOWN" Request(503) Release {
    what: "The server is stopping and accepts no more work.",
    why: "It received SIGTERM or SIGINT, for example in a restart. Runs and jobs continue when it is \
          back; attempts that it interrupts are not counted.",
    fix: "Send the request again when the server is back: `GET /readyz` then answers 200.",
}
TooLarge "TOO_LARGE" Request(413) Reject {
    what: "The body, an event, a run's input or another part of the request is too large.",
    why: "It exceeds a limit, which the message and `details` name. Bodies are limited by \
          `limits.body_bytes`, inputs by the flow's `limits.maxStateBytes`.",
    fix: "Store large data elsewhere and send its address, or raise the limit. `docs/limits.md` lists \
          all limits with their keys.",
}
Unprocessable "UNPROCESSABLE" Request(422) Reject {
    what: "The fields of the request are valid, but not together or not at this time.",
    why: "Two of them contradict each other, such as a delay and a start time, or a time is too far \
          away.",
    fix: "Leave out or change the field that the message names.",
}
UnsupportedEncoding "UNSUPPORTED_ENCODING" Request(415) Reject {
    what: "The server rejected a compressed body.",
    why: "The request has a `Content-Encoding` other than `identity`. The server does not decompress \
          bodies.",
    fix: "Send the body uncompressed and without `Content-Encoding`.",
}
UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" Request(415) Reject {
    what: "The route does not accept the content type of the body.",
    why: "Routes read JSON. Definitions may also be YAML, and http triggers also accept forms and \
          plain text.",
    fix: "Send the header `content-type: application/json`, or `application/yaml` for a definition \
          in YAML.",
}
UpgradeRequired "UPGRADE_REQUIRED" Request(426) Reject {
    what: "The route is a WebSocket, and the request was a plain one.",
    why: "The client did not ask for an upgrade, or a proxy in between removed the headers `Upgrade` \
          and `Connection`.",
    fix: "Connect with a WebSocket client and a `ws://` or `wss://` URL. Configure the proxy to pass \
          upgrades on.",
}
    } };
}
