//! Codes of the processes of a project, of their modules and of what their handlers return.

macro_rules! processes {
    ($($before:tt)*) => { collect! { $($before)*

BatchResults "BATCH_RESULTS" Run Reject {
    what: "The handler of a batch returned a list of the wrong length. The batch is not retried.",
    why: "A list is read as one result for each job, and it has more or fewer entries than the batch \
          has jobs.",
    fix: "Return one entry for each job, in order, or a single value that is not a list for all jobs.",
}
HandlerError "HANDLER_ERROR" Run Retry {
    what: "A handler threw an error that has no code of its own.",
    why: "The message and stack are the error's own. Handlers of a program that embeds riverrun also \
          get the code when they panic in a step or when their output is not JSON.",
    fix: "Read the stack with `riverrun jobs show <id>` or `riverrun runs show <id>`, and correct the \
          handler. Give errors that you want to recognise a `code`.",
}
HandlerPanic "HANDLER_PANIC" Run Retry {
    what: "A Rust function that ran a job or a step panicked.",
    why: "The message is the panic's own.",
    fix: "Correct the function. Return an error instead of panicking for failures that can happen.",
}
InputTooLarge "INPUT_TOO_LARGE" Run Reject {
    what: "The input of a job, call or step is too large for its worker. It is not retried.",
    why: "Input and metadata are sent to the worker in one message of at most 16 MiB.",
    fix: "Store large data in a file or bucket and put its name into the input.",
}
InvocationEnded "INVOCATION_ENDED" Run GiveUp {
    what: "A handler used its `ctx` after it had ended.",
    why: "It returned while a call of `ctx` was still open, most often because of a missing `await`.",
    fix: "Await every call of `ctx` before the handler returns.",
}
MessageTooLarge "MESSAGE_TOO_LARGE" Run Reject {
    what: "A handler passed a value to `ctx` that is too large.",
    why: "Each call of `ctx` is one message to the server of at most 16 MiB.",
    fix: "Store large data in a file or bucket and pass its name.",
}
ModuleConfig "MODULE_CONFIG" Run Reject {
    what: "The `config` that a module exports is invalid.",
    why: "It is not an object, or contains a value that has no JSON form.",
    fix: "Correct the member that `details.path` names. `riverrun processes ls` shows whether the file \
          loads.",
}
ModuleError "MODULE_ERROR" Run Reject {
    what: "A module could not be loaded. The job is not retried; the next one loads the module again.",
    why: "The module threw an error while it was loaded, does not exist, imports a package that is \
          missing, or does not export a handler.",
    fix: "Read the stack with `riverrun processes ls` or `riverrun doctor`, and correct the file. \
          `riverrun dev` loads it again when it is saved.",
}
ModuleLoading "MODULE_LOADING" Request(503) Retry {
    what: "The process is not available yet.",
    why: "Its file is still being loaded.",
    fix: "Try again in a moment. `riverrun processes ls` shows when it has loaded. Loading is stopped \
          after `runners.load_timeout` (1 min by default).",
}
ModuleSyntax "MODULE_SYNTAX" Run Reject {
    what: "A module cannot be parsed. The job is not retried.",
    why: "The file has a syntax error, or needs a newer Node.js or Python.",
    fix: "Correct the line that the stack names. `riverrun doctor` prints the versions of Node.js and \
          Python.",
}
ModuleTs "MODULE_TS" Run Reject {
    what: "A TypeScript module could not be translated to JavaScript.",
    why: "The file has more than 8 MiB, took more than 20 s, made the translator fail, or is run by a \
          program that does not translate TypeScript.",
    fix: "Look at the file that the message names. Build generated or very large files to JavaScript \
          first, for example with `tsc`.",
}
NonRetriable "NON_RETRIABLE" Run Reject {
    what: "A handler failed with an error that must not be retried.",
    why: "It threw a `NonRetriableError` without a `code`.",
    fix: "Read the message with `riverrun jobs show <id>` or `riverrun runs show <id>`. Give the error \
          a `code` to recognise it.",
}
NotInACall "NOT_IN_A_CALL" Run Reject {
    what: "A call used a function of `ctx` that only jobs and steps have.",
    why: "Checkpoints exist so that a later attempt can continue from them, and a call has only one \
          attempt.",
    fix: "Store the data in `ctx.state`, or run the work as a job: `riverrun jobs add <queue>`.",
}
OutputInvalid "OUTPUT_INVALID" Run Reject {
    what: "The result of a handler is invalid. The work is not retried.",
    why: "It breaks the output schema of the process, or the last line that an executable printed is \
          broken JSON.",
    fix: "Correct every issue that `details.issues` lists, or the place in the line that the message \
          names.",
}
ProcessBroken "PROCESS_BROKEN" Request(500) Reject {
    what: "The process cannot run because its file does not load.",
    why: "The file has an error that has no code of its own. Otherwise the error has the code of the \
          cause, such as MODULE_SYNTAX.",
    fix: "`riverrun processes ls` shows which file does not load and why. Correct that file.",
}
ProcessConflict "PROCESS_CONFLICT" Command Reject {
    what: "Two files of the project contradict each other. The first one is used, the second one is \
           not.",
    why: "They define the same process, take jobs from the same queue, or are steps that share a queue \
          and give it different limits.",
    fix: "Rename one of them, or give it another `queue` in its config.",
}
ProcessInvalid "PROCESS_INVALID" Command Reject {
    what: "The config of a process is invalid. The process is not registered; others are.",
    why: "A setting is unknown or has an invalid value, or the id cannot be part of a path.",
    fix: "Correct every issue that the message lists. `docs/reference/processes.md` describes all \
          settings.",
}
ProcessNotFound "PROCESS_NOT_FOUND" Request(404) Reject {
    what: "No process has this id.",
    why: "The id is misspelt, or the file of the process did not load.",
    fix: "`riverrun processes ls` lists the processes, and the files that do not load.",
}
ResultMissing "RESULT_MISSING" Run Retry {
    what: "A job of a batch has no result. The job is retried.",
    why: "The worker sent fewer results than the batch has jobs. The SDKs check this themselves \
          (BATCH_RESULTS), so the worker uses another client of the protocol.",
    fix: "Let the client send one result for each job, in order, as `docs/reference/protocol.md` \
          describes.",
}
ResultNotJson "RESULT_NOT_JSON" Run Reject {
    what: "A handler returned a value that has no JSON form. The work is not retried.",
    why: "The value is or contains a function, a cycle, a bigint, a class instance or something \
          similar. The same holds for the result of `ctx.run`.",
    fix: "Return plain objects, lists, texts, numbers, booleans or nothing.",
}
ResultTooLarge "RESULT_TOO_LARGE" Run Reject {
    what: "A handler returned a value that is too large. The work is not retried.",
    why: "A result is sent to the server in one message of at most 16 MiB.",
    fix: "Store large data in a file or bucket and return its name.",
}
RetryAfter "RETRY_AFTER" Run Retry {
    what: "A handler failed and asked to be retried after a certain time.",
    why: "It threw a `RetryAfterError` (`RetryAfter` in Python) without a `code`.",
    fix: "You do not need to do anything while attempts are left. `riverrun jobs show <id>` prints when \
          the next one starts.",
}
TooManyRequests "TOO_MANY_REQUESTS" Run Retry {
    what: "A worker has too many open calls of `ctx`.",
    why: "Handlers start calls of `ctx` faster than the server answers them, for example in a large \
          `Promise.all`.",
    fix: "Await some of the calls before you start more.",
}
UnknownMethod "UNKNOWN_METHOD" Run Reject {
    what: "A worker sent a request that this server does not know.",
    why: "The SDK of the worker is newer than the server, or a client has a mistake in the protocol.",
    fix: "Update the server, or use an SDK of the same or an older version. `riverrun version` prints \
          the version.",
}
    } };
}
