//! Codes of runs as a whole: reading, changing and moving them, and their limits.

macro_rules! runs {
    ($($before:tt)*) => { collect! { $($before)*

Cancelled "CANCELLED" Run GiveUp {
    what: "The step, job or call was cancelled before it finished.",
    why: "A request cancelled it or its run, the client of a call disconnected, or another branch of a \
          `parallel` or `map` step failed.",
    fix: "`riverrun runs show <id>` or `riverrun jobs show <id>` prints the reason. Run it again with \
          `riverrun runs rerun <id>` or `riverrun jobs retry <id>`.",
}
ChildFailed "CHILD_FAILED" Run GiveUp {
    what: "The run of a sub-flow failed or was cancelled, and the step that waited for it failed too.",
    why: "The step waits for the result of its child run, and there is none.",
    fix: "Look at the child run that `details` names: `riverrun runs show <child>`. Give the step an \
          `onFailure` to continue without the result.",
}
ForkAtEnd "FORK_AT_END" Request(409) Reject {
    what: "The run cannot be forked at this event.",
    why: "The run had already ended there, so a fork would have nothing left to do.",
    fix: "Fork from an earlier event: `riverrun runs events <id>` lists them, and the message names \
          the last usable one. Or run it from the start: `riverrun runs rerun <id>`.",
}
ForkLimit "FORK_LIMIT" Run GiveUp {
    what: "The run failed because it has too many branches.",
    why: "Forks are nested more than 32 deep, more than 20,000 visits would be under way, or more than \
          10,000 events wait for a `join`. Most often a branch of a `parallel` or `map` step leads \
          back to that step.",
    fix: "`riverrun flows graph <id>` draws the flow: look for a branch that leads back. Give nested \
          `map` steps a lower `concurrency`.",
}
LeaseLost "LEASE_LOST" Request(409) GiveUp {
    what: "The run or job now belongs to another worker, so this one may not write any more.",
    why: "The worker did not renew its lease in time: it was paused, overloaded or cut off, and \
          another one took over.",
    fix: "You do not need to do anything: the new owner continues. If it happens often, keep handlers \
          from blocking their process, or raise `lease` in the configuration.",
}
MaxSteps "MAX_STEPS" Run GiveUp {
    what: "The run failed because it visited more steps than its flow allows.",
    why: "Most often it is in a loop. A `map` or `parallel` step counts one visit for each step of \
          each branch.",
    fix: "Look at the path of the run: `riverrun runs show <id>`. If that many visits are intended, \
          raise the flow's `limits.maxSteps` (1,000 by default).",
}
Quarantined "QUARANTINED" Run GiveUp {
    what: "The step is parked. It has not failed, and no attempt was counted.",
    why: "Its worker or the server died several times in a row while the step ran, so the step may be \
          the cause.",
    fix: "Find out what kills the worker; memory is the most common cause. Then release the step with \
          `riverrun runs resume <id>`, or end the run with `riverrun runs cancel <id>`.",
}
RunCancelled "RUN_CANCELLED" Command GiveUp {
    what: "The run that the command waited for was cancelled.",
    why: "A request cancelled it, or its parent run was cancelled.",
    fix: "`riverrun runs events <id> --type flow.cancelled` prints the reason. \
          `riverrun runs rerun <id>` starts the flow again.",
}
RunEnded "RUN_ENDED" Request(409) GiveUp {
    what: "The run has ended, so it cannot be changed.",
    why: "Completed, failed and cancelled runs never change again.",
    fix: "Start it again with `riverrun runs rerun <id>`, or from the middle with `riverrun runs fork \
          <id> --at <event>`.",
}
RunExists "RUN_EXISTS" Request(409) Reject {
    what: "A run with this id exists, so no second one was started.",
    why: "The request chose the id with `runId`, and an earlier request used the same one.",
    fix: "Leave `runId` out, or choose another one. To get the first run back instead of an error, \
          use an idempotency key: `riverrun run <flow> --key <key>`.",
}
RunFailed "RUN_FAILED" Command GiveUp {
    what: "The run that the command waited for failed.",
    why: "Its error has no code of its own.",
    fix: "`riverrun runs show <id>` prints the error and the failed step, `riverrun runs events <id>` \
          what led to it.",
}
RunNotEnded "RUN_NOT_ENDED" Request(409) Reject {
    what: "The run has not ended, so it cannot be deleted.",
    why: "Only completed, failed and cancelled runs can be deleted.",
    fix: "Cancel it first: `riverrun runs cancel <id>`, then `riverrun runs delete <id>`.",
}
RunNotFound "RUN_NOT_FOUND" Request(404) Reject {
    what: "No run has this id.",
    why: "The id is wrong, the run is on another server, or it was deleted: ended runs are deleted \
          when their retention is over.",
    fix: "`riverrun runs ls` lists the runs. To keep ended runs longer, raise `retention.completed`, \
          `retention.failed` or `retention.cancelled`.",
}
RunNotPaused "RUN_NOT_PAUSED" Request(409) GiveUp {
    what: "There is nothing to resume.",
    why: "The run is not paused and has no parked steps.",
    fix: "`riverrun runs why <id>` says what the run waits for.",
}
RunTied "RUN_TIED" Request(409) Reject {
    what: "The run cannot be imported.",
    why: "It has not ended, and the export lacks what belongs to it: it waits for another run, another \
          run waits for it, or the export does not contain what it waits for.",
    fix: "Wait until the child run has ended, export both again with `riverrun runs export`, and \
          import the child first. Make the export with this version of riverrun: it includes awaits.",
}
SecretMissing "SECRET_MISSING" Request(409) Reject {
    what: "The run cannot be imported because a secret is missing from the export.",
    why: "The run has a callback whose requests must be signed. Without the secret the callback would \
          accept nothing, or everything.",
    fix: "Export the run with `riverrun runs export <id> --secrets`, and protect that file like any \
          other secret.",
}
StateConflict "STATE_CONFLICT" Request(409) Retry {
    what: "The write to the state was rejected because the state changed in between.",
    why: "The write named the version that it was made for, and another one came first.",
    fix: "Read the state and write again. `ctx.state.patch` does both.",
}
StateInvalid "STATE_INVALID" Request(422) Reject {
    what: "The write to the state was rejected, and nothing was written.",
    why: "The new state breaks the flow's state schema, or the write is not a valid change of state.",
    fix: "Correct every issue that `details.issues` lists. `riverrun runs state <id>` prints the \
          current state, `riverrun flows show <id>` the schema.",
}
StateTooLarge "STATE_TOO_LARGE" Request(413) Reject {
    what: "The state of the run would grow beyond its limit, and nothing was written.",
    why: "A step's output, a write to the state, the events of a `join` or the results that \
          compensations need exceed the flow's `limits.maxStateBytes` (10 MiB by default).",
    fix: "Store large data elsewhere and keep its address in the state, or raise \
          `limits.maxStateBytes` in the flow.",
}
SubflowDepth "SUBFLOW_DEPTH" Run GiveUp {
    what: "The step failed because sub-flows are nested more than 32 deep.",
    why: "Most often a flow starts itself, directly or through other flows.",
    fix: "Follow the parents with `riverrun runs show <id>`, and remove the cycle.",
}
Timeout "TIMEOUT" Run Retry {
    what: "A step, job, call or run took longer than it may, or a command stopped waiting.",
    why: "The handler is slow or hangs, or its `timeoutMs` is too short: without one an attempt has \
          30 s (`attempt_timeout`). On the command line `--timeout` is over; the run or job itself \
          continues.",
    fix: "Raise `timeoutMs`, or give the step a `retry` or an `onFailure`. For a command, pass a longer \
          `--timeout`, or follow the run with `riverrun runs events <id> --follow`.",
}
    } };
}
