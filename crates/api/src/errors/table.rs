//! Every code that riverrun gives to a failure: over HTTP, in a run's error, in the CLI.

/// One code and its page in the documentation.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCode {
    pub code: &'static str,
    pub seen: Seen,
    pub meaning: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}

/// Where people meet a code first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// In the answer to a request, with this status. The command line passes it on.
    Request(u16),
    /// In the error of a run or a step.
    Run,
    /// On the command line, or as an error of the library that opens a server.
    Command,
}

impl ErrorCode {
    /// The status of a request that fails with it.
    pub fn status(&self) -> Option<u16> {
        match self.seen {
            Seen::Request(status) => Some(status),
            Seen::Run | Seen::Command => None,
        }
    }

    /// The page about the code, in Markdown: `docs/errors/<CODE>.md` is this.
    pub fn markdown(&self) -> String {
        format!(
            "# {}\n\n{}\n\n## What to do\n\n{}\n\n## Where it is seen\n\n{}\n",
            self.code,
            self.meaning,
            self.remedy,
            self.seen.sentence()
        )
    }
}

impl Seen {
    pub fn sentence(self) -> String {
        match self {
            Self::Request(status) => {
                format!("A request that fails with it is answered with status {status}.")
            }
            Self::Run => "It stands in the error of a run or of a step.".to_owned(),
            Self::Command => {
                "The command line says it, or the library when it opens a server.".to_owned()
            }
        }
    }

    /// In a word, for tables.
    pub fn word(self) -> String {
        match self {
            Self::Request(status) => status.to_string(),
            Self::Run => "in runs".to_owned(),
            Self::Command => "command line".to_owned(),
        }
    }
}

/// Looks a code up.
pub fn find(code: &str) -> Option<&'static ErrorCode> {
    let at = TABLE.binary_search_by(|row| row.code.cmp(code)).ok()?;
    TABLE.get(at)
}

const fn request(
    code: &'static str,
    status: u16,
    meaning: &'static str,
    remedy: &'static str,
) -> ErrorCode {
    let seen = Seen::Request(status);
    ErrorCode {
        code,
        seen,
        meaning,
        remedy,
    }
}

const fn run(code: &'static str, meaning: &'static str, remedy: &'static str) -> ErrorCode {
    let seen = Seen::Run;
    ErrorCode {
        code,
        seen,
        meaning,
        remedy,
    }
}

const fn command(code: &'static str, meaning: &'static str, remedy: &'static str) -> ErrorCode {
    let seen = Seen::Command;
    ErrorCode {
        code,
        seen,
        meaning,
        remedy,
    }
}

/// All codes, in the order of the alphabet.
#[rustfmt::skip]
pub const TABLE: &[ErrorCode] = &[
    request("BAD_CURSOR", 400, "The cursor is not one that this list or stream has given out.",
        "Take nextCursor, or the id of an event, unchanged from an earlier answer; leave it out to begin at the beginning."),
    request("BAD_DEFINITION", 400, "The definition of the flow could not be read at all: it is not JSON, or not YAML, or has a number that would be rounded.",
        "Correct the place that the message names. For YAML send content-type application/yaml."),
    request("BAD_EVENT", 400, "What was to be appended is not an event: it has no type, or a field of the wrong kind.",
        "Send an object with a type such as \"order.paid\" and, where there is something to say, data."),
    request("BAD_ID", 400, "An id has characters that ids do not have, or is too long.",
        "Use 1 to 128 characters of letters, digits, '-', '_', '.' and '~'."),
    request("BAD_JSON", 400, "The body of the request is not JSON, or JSON that nobody can read: half a surrogate pair, a number beyond all machine types, or brackets nested too deep.",
        "Correct the line and column in details. Quotes of a shell are the usual cause."),
    request("BAD_QUERY", 400, "A query parameter is unknown, given twice, or its value cannot be read.",
        "Correct the parameter that details names; /api/docs lists those of every route."),
    request("BAD_REQUEST", 400, "The request could be read, but a field in it is unknown, missing or of the wrong kind.",
        "Correct the field that the message names; /api/docs shows the shape of every body."),
    run("BATCH_RESULTS", "The handler of a batch returned a list of another length than it was given. It is not tried again.",
        "Return one entry for each job, in order, or one value for all that is not a list."),
    request("BODY_TIMEOUT", 408, "The body of the request did not arrive in time.",
        "Send it again; look for a slow or broken connection."),
    run("BRANCH_ERROR", "A branch or switch step could not judge its conditions.",
        "Look at the step's conditions and at the values in the run's state."),
    run("BRANCH_FAILED", "A branch of a parallel or map step failed, and the step with it.",
        "The error's details name the branch and its own error. Give the step an onFailure, or its branches retries."),
    request("BUSY", 503, "The run moved faster than this request could be judged.",
        "Send it again."),
    request("CALL_FAILED", 500, "The handler of the called process failed.",
        "details.error is the handler's own error."),
    request("CALL_TIMEOUT", 504, "The called process did not answer in its time. It was stopped.",
        "Give it more time with timeoutMs, here or in its config, or add it to a queue."),
    run("CANCELLED", "The step was cancelled before it ended, with its run or because a branch beside it failed.",
        "The run's cancellation says who did it and why."),
    run("CHILD_FAILED", "A sub-flow failed or was cancelled, and the step that waited for it with it.",
        "Look at the child run that details names. Give the step an onFailure to go on without it."),
    command("CLIENT_FAILED", "The command line could not set up its HTTP client.",
        "The message has the cause; the TLS set-up of the machine is the usual one."),
    command("CONFIG_INVALID", "A setting has a value that it cannot have, or the configuration file is not TOML.",
        "The message names the key, the rule and where the value came from. `riverrun config` shows every setting with its source."),
    command("CONFIG_UNKNOWN_KEY", "The configuration file, the environment or a flag names a setting that does not exist.",
        "Correct the name; the message gives the nearest one. `riverrun config` lists all settings."),
    request("CONFLICT", 409, "The run moved on while this was decided.",
        "Read the run again and send the request again if it still makes sense."),
    request("DISK_FULL", 507, "The disk of the store is full. Nothing that was acknowledged is lost.",
        "Make room: delete ended runs, shorten retention, or give the store a larger disk."),
    request("DUPLICATE", 409, "A run with this idempotency key exists.",
        "Read the run that the message names; use another key to start another one."),
    run("EXPR_ASYNC", "An expression answered with a promise.",
        "Expressions cannot wait: remove async and await."),
    request("EXPR_CLOSED", 503, "The sandbox of expressions has been shut down.",
        "The server is stopping; the run goes on when it is back."),
    run("EXPR_MEMORY", "An expression used more memory than the sandbox allows.",
        "Work on less data in the expression, or move the work to a handler of your own."),
    run("EXPR_NOT_JSON", "An expression answered with something that JSON cannot hold, such as a function or a cycle.",
        "Return plain data."),
    run("EXPR_SYNTAX", "An expression is not JavaScript.",
        "Correct the place that the message names."),
    run("EXPR_THROWN", "An expression threw an error.",
        "The message is the error's own. Guard against values that may be missing, as in state.user?.name."),
    run("EXPR_TIMEOUT", "An expression ran for longer than the sandbox allows.",
        "Look for a loop that does not end."),
    run("EXPR_TOO_LARGE", "The source or the answer of an expression is larger than the sandbox allows.",
        "Select less, or move the work to a handler of your own."),
    command("FILE_EXISTS", "A file that was to be written is there already. Nothing was written.",
        "Choose another folder, or move the file away."),
    command("FILE_UNUSABLE", "A file or folder could not be read or written, or is a pipe or a device.",
        "Look at the path and its rights; the message has the system's reason."),
    request("FLOW_EXISTS", 409, "Another definition is registered under this id and version. Definitions never change.",
        "Give the changed definition a new version."),
    request("FLOW_INVALID", 422, "The definition can be read but is no valid flow. Nothing was registered.",
        "Correct every issue that details lists, each with its path and rule."),
    request("FLOW_KEPT", 409, "This very definition is registered under this id and version already.",
        "Nothing: it is there."),
    request("FLOW_NOT_FOUND", 404, "There is no flow with this id, or not in this version.",
        "GET /api/flows lists what is registered; register the flow first."),
    request("FORBIDDEN_HOST", 403, "The request is for a name under which this server does not answer. A server on this machine alone answers only to localhost and loopback addresses, so that no web page can reach it under a name of its own.",
        "Use the address that the server prints when it starts. Behind a proxy, or where the name is right, add it to allowed_hosts."),
    request("FORBIDDEN_ORIGIN", 403, "A web page of another origin tried to change something here.",
        "Call the API from a page that this server serves, or from outside a browser."),
    request("FORK_AT_END", 409, "The run had ended at the event to fork from, so nothing would be left to do.",
        "Fork from an earlier event, or rerun."),
    run("FORK_LIMIT", "Forks are nested deeper than allowed, most likely because a branch of a parallel or map step leads back to it, or too many of their branches would be under way at once.",
        "Look for a branch that leads back to the step it belongs to; give nested maps a lower concurrency."),
    run("HANDLER_ERROR", "A handler broke down while it ran a step.",
        "The server's log has the details; this is a mistake in the handler."),
    request("HANDLER_NOT_FOUND", 404, "This server has no handler of this type.",
        "GET /api/handlers lists them. A flow keeps the name of a handler that the server may have lost."),
    run("HANDLER_PANIC", "A function of this program that ran a job or a step panicked.",
        "The message says what it said; this is a mistake in the function."),
    run("HTTP_ERROR", "An http step got no answer, or one with a status that counts as failure.",
        "The error's details have the status and the beginning of the body. Give the step a retry or an onFailure."),
    run("HTTP_FORBIDDEN", "An http step was to call an address that the server may not call.",
        "Private addresses must be allowed in the server's configuration."),
    run("INPUT_ERROR", "The input of a step could not be selected or did not fit its handler.",
        "Look at the step's input selector and at the state at that point."),
    request("INPUT_INVALID", 422, "The input breaks the flow's inputSchema. No run was started.",
        "Correct every issue that details lists."),
    command("INPUT_NOT_JSON", "The input given to `riverrun run` is not JSON.",
        "Put it in single quotes, as in -d '{\"name\": \"Ada\"}', or give a file with -d @input.json."),
    run("INPUT_TOO_LARGE", "The input of a job, a call or a step is larger than a message to a worker may be. It is not tried again.",
        "Put what is large into a file or a bucket, and its name into the input."),
    request("INTERNAL", 500, "The server made a mistake. The request may or may not have taken effect.",
        "Report it with the request id, which is in details and in the header x-request-id."),
    run("INVALID_TRANSITION", "A handler sent the run to a step that the flow does not have.",
        "Correct the target in the step's config."),
    run("INVOCATION_ENDED", "A handler asked for something after it had ended.",
        "Await everything that the handler starts before it returns."),
    command("JOB_CANCELLED", "The job that the command waited for was cancelled.",
        "riverrun jobs show <id> says why; riverrun jobs retry <id> lets it wait again."),
    command("JOB_FAILED", "The job that the command waited for has failed.",
        "riverrun jobs show <id> prints its error, riverrun jobs logs <id> what it said."),
    request("JOB_LOST", 409, "The lease on the job is gone: another worker has it, or it has ended.",
        "Nothing: whoever holds the job now records its outcome."),
    request("JOB_NOT_FOUND", 404, "There is no job with this id. Ended jobs are removed when their retention is over.",
        "GET /api/queue/<name>/jobs lists the jobs of a queue."),
    run("JOB_STALLED", "The worker that ran the job gave no sign of life: it died, hangs or lost its connection. This counts as an attempt.",
        "Look at the worker's logs. Work that takes long without a word keeps its lease as long as its worker lives."),
    request("JOB_STATE", 409, "The job is in a state in which this cannot be done to it.",
        "The message says which states it can be done in."),
    request("LEASE_LOST", 409, "Another worker has taken over the run.",
        "Nothing: whoever has it goes on with it."),
    command("LISTEN_FAILED", "The server cannot listen on this address.",
        "Use an address of this machine and a port of 1024 or above, such as --listen 127.0.0.1:4600."),
    command("LISTEN_UNAUTHENTICATED", "The server was to listen beyond this machine, where anybody who reaches it could read, start and delete every run.",
        "Listen on 127.0.0.1 and put a proxy that checks who calls in front of it, or accept the risk with --allow-unauthenticated."),
    run("MAX_STEPS", "The run visited more steps than its flow allows, most likely in a loop, or a map or parallel step has more branches than steps are left.",
        "Look at the run's history. Raise limits.maxSteps, 1,000 unless the flow says otherwise, if the loop is meant or the list is that long: each visit of each item counts."),
    run("MESSAGE_TOO_LARGE", "A handler asked for something with a value that is larger than a message to the server may be.",
        "Keep large values elsewhere and pass where they are."),
    request("METHOD_NOT_ALLOWED", 405, "The route exists, but not with this method.",
        "The header Allow names the methods that it has."),
    run("MODULE_CONFIG", "The config that a module exports cannot be made JSON.",
        "Correct the member that details.path names."),
    run("MODULE_ERROR", "A module threw while it was loaded, or is not there. It is not tried again.",
        "Look at the stack; the module is loaded anew once it is saved."),
    run("MODULE_SYNTAX", "A module does not parse. It is not tried again.",
        "Correct the line that the stack names."),
    run("MODULE_TS", "A module is TypeScript, and this Node cannot run it.",
        "Use Node 22.18 or newer, or install tsx in the project."),
    request("NEWER_SCHEMA", 503, "The data was written by a newer riverrun.",
        "Run the newer version again."),
    run("NON_RETRIABLE", "A handler said that trying again is of no use, and gave no code of its own.",
        "Look at the message; give the error a code to tell it from others."),
    request("NOT_FOUND", 404, "There is no such route.",
        "/api/docs lists all routes."),
    run("NOT_IN_A_CALL", "A call asked for something that only jobs and steps have, such as state.",
        "Add the work to a queue, or pass the data with the call's input."),
    command("NOT_RIVERRUN", "Something answers at this URL, but not as a riverrun does.",
        "Correct --url or RIVERRUN_URL; `riverrun doctor` says what is there."),
    run("NO_MATCH", "No condition of a branch or case of a switch matched, and there is no default.",
        "Add a default, or a condition for this value."),
    command("NO_THREADS", "The system gave the program no threads to run on.",
        "Raise the limit of processes and threads of this user or container."),
    run("OUTPUT_INVALID", "What the handler returned breaks the process's output schema. It is not tried again.",
        "The error's details list every issue, each with its path and rule."),
    command("PORT_IN_USE", "Another program listens on this port, perhaps a riverrun that was started before.",
        "Stop it, or use another port: --listen 127.0.0.1:0 takes any free one."),
    command("PROCESS_INVALID", "The config of a process has settings that it cannot have. The process is not taken in; others are.",
        "Correct every issue that the message lists, each with its path."),
    request("PROCESS_NOT_FOUND", 404, "There is no process with this id.",
        "GET /api/processes lists what this server can run; look at the server's log for a file that did not load."),
    command("PROJECT_NOT_FOUND", "The project folder does not exist.",
        "Correct the path, or make a new project with `riverrun init <folder>`."),
    run("PROTOCOL_ERROR", "A runner, an executable or a worker sent something that is no message of the protocol. What ran in it counts as an attempt; it was ended and replaced.",
        "Most often something else writes to fd 3, or an SDK has a mistake: docs/protocol.md says what may be sent."),
    run("PROTOCOL_VERSION", "A runner or a worker speaks another version of the protocol than this server.",
        "Use an SDK and a server of versions that fit."),
    request("QUEUE_NOT_FOUND", 404, "There is no such queue: no process takes its jobs, and it has had none.",
        "GET /api/queue lists the queues. Add `?create=true` to make a queue before its worker is there."),
    command("REGISTRY_INVALID", "The registry file cannot be read, or is of another riverrun's making.",
        "Make it anew: riverrun build <project>."),
    request("REQUEST_TIMEOUT", 504, "The server could not answer in time. The request may still take effect.",
        "Read before you send it again, or use an idempotency key."),
    request("RESERVED_TYPE", 403, "Events of this type say what became of a run or a step: only the engine writes them.",
        "Use a type of your own, such as \"order.paid\"."),
    run("RESPONSE_TOO_LARGE", "The answer to an http step is larger than the step may keep.",
        "Ask for less, or raise the limit in the step's config."),
    run("RESULT_MISSING", "The handler of a batch answered for fewer jobs than it was given.",
        "Return one result for each job, in order."),
    run("RESULT_NOT_JSON", "What a handler returned has no form in JSON. It is not tried again.",
        "Return plain objects, lists, text, numbers, booleans or nothing."),
    run("RESULT_TOO_LARGE", "What a handler returned is larger than a result may be. It is not tried again.",
        "Put what is large into a file or a bucket, and return its name."),
    run("RETRY_AFTER", "A handler asked to be tried again after a time, and gave no code of its own.",
        "Nothing, while attempts are left: it is tried again at the time that it named."),
    run("RUNNER_DIED", "The process that ran the handler ended before the handler did. This counts as an attempt.",
        "The message has the exit code or the signal, and what the process said last. A SIGKILL that nobody sent is most often the system short of memory."),
    run("RUNNER_HUNG", "A handler did not end in its time and did not stop when it was told to, or a module did not load in time. Its process was ended where nothing else could be saved.",
        "Look for an endless loop, and let the handler look at ctx.signal; raise timeoutMs if the time was too short."),
    run("RUNNER_MEMORY", "The process that ran the handler held more memory than it may, and was ended. This counts as an attempt.",
        "Look for what keeps memory, work on less at once, or raise the limit."),
    run("RUNNER_START", "The process that was to run the handler could not be started.",
        "The message says why, and what the process said last. It is tried again, more and more slowly."),
    run("RUNTIME_MISSING", "The interpreter of the handler's language is not there, or is too old.",
        "Install the version that the message names, or name the program in the configuration."),
    command("RUN_CANCELLED", "The run that the command waited for was cancelled.",
        "`riverrun runs show <id>` says by whom and why."),
    request("RUN_ENDED", 409, "The run has ended, and an ended run never changes.",
        "Rerun or fork it."),
    request("RUN_EXISTS", 409, "There is a run with this id.",
        "Leave out runId, or use an idempotency key to get the first run back."),
    command("RUN_FAILED", "The run that the command waited for failed, with an error that has no code of its own.",
        "`riverrun runs events <id>` shows where."),
    request("RUN_NOT_ENDED", 409, "Only an ended run can be deleted.",
        "Cancel it first."),
    request("RUN_NOT_FOUND", 404, "There is no run with this id. Ended runs are deleted after their retention.",
        "GET /api/runs lists the runs that exist."),
    request("RUN_NOT_PAUSED", 409, "Only a paused run can be resumed.",
        "Nothing: the run is not held up by a pause."),
    request("RUN_TIED", 409, "The run to be imported has not ended and waits for another run, or another run waits for it. Taken in apart they would lose each other.",
        "Export both again once the one that is waited for has ended, and import that one first."),
    command("SANDBOX_FAILED", "The threads that run expressions could not be started.",
        "Raise the limit of processes and threads of this user or container."),
    command("SERVER_FAILED", "The server stopped because it could not go on taking connections.",
        "The message has the system's reason; limits on open files are the usual cause."),
    request("SHUTTING_DOWN", 503, "The server is stopping and takes no more work.",
        "Send the request again when it is back."),
    request("STATE_CONFLICT", 409, "The state has changed since the version that the write was made for.",
        "Read the state and write again; ctx.state.patch does both."),
    request("STATE_INVALID", 422, "A write breaks the schema of the run's state, or is no write of state at all. Nothing was written.",
        "Correct every issue that details lists."),
    run("STATE_TOO_LARGE", "The state of the run would grow beyond its flow's limit.",
        "Keep less in the state, or raise limits.maxStateBytes."),
    run("STEP_NOT_FOUND", "The run was to enter a step that its flow does not have.",
        "Correct the target."),
    request("STORE_CLOSED", 503, "The store has been closed.",
        "The server is stopping; send the request again when it is back."),
    request("STORE_CORRUPT", 500, "What the store holds cannot be read.",
        "Stop the server, keep a copy of the data, and restore a backup or report it."),
    request("STORE_GONE", 503, "Files of the data folder were deleted, moved or replaced while the server used them. Nothing more is written, and the server stops.",
        "Put the files back or restore a backup, then start the server again."),
    request("STORE_LOCKED", 503, "Another server has the data.",
        "Stop the other server, or give this one a data folder of its own."),
    command("STORE_NOT_BUILT_IN", "The store's URL names a kind of store that this riverrun was built without.",
        "Use sqlite:// for the embedded store, or a riverrun that has the other."),
    request("STORE_READ_ONLY", 503, "The store cannot be written.",
        "Look at the rights and the mount of the data folder."),
    request("STORE_UNAVAILABLE", 503, "The store does not answer.",
        "Send the request again; look at the store if it lasts."),
    command("STORE_UNKNOWN", "The store's URL names no kind of store that there is.",
        "Use sqlite://, sqlite:///folder or memory:."),
    request("STREAM_NOT_FOUND", 404, "Nothing was ever appended to this stream.",
        "Look at the type and the id; a stream begins with its first event."),
    run("SUBFLOW_DEPTH", "Sub-flows are nested deeper than allowed, most likely because a flow starts itself.",
        "Look for a cycle of sub-flow steps."),
    run("SUSPEND_UNSUPPORTED", "A handler wanted to wait without holding anything, which this server cannot do yet.",
        "Use an SDK of the version of this server."),
    run("TIMEOUT", "A step or the whole run took longer than it may. On the command line: the server, or the run that the command waited for, took longer than the command waits; the run goes on.",
        "Raise timeoutMs, or give the step a retry or an onFailure; give the command a longer --timeout, or follow the run with `riverrun runs events <id> --follow`."),
    request("TOO_DEEP", 422, "The input, a write of state or the output of a step nests deeper than a value of a run may.",
        "Flatten the value, or keep the inner part as a text; look for a loop that wraps a value in each round."),
    request("TOO_LARGE", 413, "The body, an event, the input or the state is larger than allowed.",
        "Send less; details has the limit."),
    run("TOO_MANY_REQUESTS", "A runner or worker has more requests open than it may.",
        "Await what the handler asks for before it asks for more."),
    run("TRANSFORM_ERROR", "A transform step could not be applied to its input.",
        "Look at the step's config and at the value that it was given."),
    run("UNKNOWN_METHOD", "A worker sent a request that this server does not know.",
        "Use an SDK of the server's version or an older one."),
    command("UNREACHABLE", "No server answers at this URL.",
        "Start one with `riverrun dev` or `riverrun serve`, or set --url or RIVERRUN_URL."),
    request("UNSUPPORTED_MEDIA_TYPE", 415, "The body has a content type that this route does not read.",
        "Send content-type application/json; definitions of flows may also be application/yaml."),
    command("URL_INVALID", "What was given as the server's URL is none.",
        "Give the scheme, the host and the port, as `riverrun serve` prints them when it starts."),
    command("USAGE", "A flag of the command has a value that cannot be read.",
        "Add --help to the command for its flags and an example."),
    run("VALUE_TOO_LARGE", "The output of a step is larger than its flow allows.",
        "Keep less of it, or raise limits.maxValueBytes."),
    command("WATCH_FAILED", "`riverrun dev` cannot watch the project folder for changes.",
        "Raise the system's limit of file watches, or use `riverrun serve --project <folder>`, which does not watch."),
    run("WORKER_LOST", "The worker that ran a step died too often, or the remote worker that ran a job is gone and did not come back in time.",
        "Look for what kills it, such as memory. Rerun or fork the run afterwards."),
];
