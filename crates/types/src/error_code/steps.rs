//! Codes that the engine and the built-in handlers give to steps.

macro_rules! steps {
    ($($before:tt)*) => { collect! { $($before)*

BranchError "BRANCH_ERROR" Run Reject {
    what: "A `branch` or `switch` step failed while it evaluated a condition.",
    why: "The expression of a condition threw an error or ran into a limit of the sandbox.",
    fix: "Compare the condition with the state at that point: `riverrun runs state <id>`. Guard \
          against missing values, as in `state.user?.name`.",
}
BranchFailed "BRANCH_FAILED" Run GiveUp {
    what: "A branch of a `parallel` or `map` step failed, and the step failed too.",
    why: "The step needs all of its branches. `details` names the branch and has its error.",
    fix: "Correct the cause of the branch's own error. Give the steps of the branch a `retry`, or the \
          `parallel` or `map` step an `onFailure`.",
}
HttpError "HTTP_ERROR" Run Retry {
    what: "An `http` step received no response, or one that counts as a failure.",
    why: "The server could not be reached, redirected too often, or answered with a status that the \
          step does not expect. `details` has the status and the beginning of the body.",
    fix: "Try the request with `curl`. Give the step a `retry` for failures that pass, or an \
          `onFailure`.",
}
HttpForbidden "HTTP_FORBIDDEN" Run Reject {
    what: "The server did not send the request of an `http` step.",
    why: "The address is not public. Private addresses are blocked, so that a flow cannot reach \
          services inside your network.",
    fix: "If the address is intended, allow it: `riverrun serve --set http.allow=10.1.0.0/16`.",
}
InputError "INPUT_ERROR" Run Reject {
    what: "The input, config or options of a step or of a function in `ctx` are invalid.",
    why: "A selector or template found no usable value, the value does not fit the handler's config, \
          or an argument such as a duration, a name or a retry policy is invalid.",
    fix: "The message names the field. `riverrun runs state <id>` prints the state that the step saw, \
          `riverrun handlers show <type>` the schema of its config.",
}
InvalidTransition "INVALID_TRANSITION" Run Reject {
    what: "A handler sent the run to a step that the flow does not have.",
    why: "The handler's result names an unknown step as the next one.",
    fix: "Correct the target in the step's config or in the handler. `riverrun flows graph <id>` draws \
          the steps of the flow.",
}
JournalMismatch "JOURNAL_MISMATCH" Run GiveUp {
    what: "The code of a step no longer matches what its earlier executions recorded. The step is \
           parked, and nothing new was executed.",
    why: "The code changed after the run had started: a `ctx` call was removed, added, renamed or \
          moved before recorded ones.",
    fix: "`riverrun runs why <id>` prints both sequences. Load matching code, and the run continues by \
          itself: keep recorded calls where they are, add new ones behind them, or use `ctx.patched`. \
          Otherwise use `riverrun runs fork <id>` or `riverrun runs cancel <id>`.",
}
JournalTooLarge "JOURNAL_TOO_LARGE" Run Reject {
    what: "A step recorded more data than fits into the message that starts it again. It is not \
           retried.",
    why: "The results of `ctx.run`, reads and writes of the state, awaited values and the input are \
          sent to the handler each time it continues, in one message of at most 16 MiB.",
    fix: "Return only what later code needs from `ctx.run`: store large data in a file or bucket and \
          return its name.",
}
MaxAwaits "MAX_AWAITS" Run GiveUp {
    what: "The step failed because its code waited more often in one visit than its flow allows.",
    why: "After each wait the code reads everything again that it did before, so a loop of waits gets \
          slower with every round.",
    fix: "Start a new run that continues, with `ctx.start`, and return. If that many waits are \
          intended, raise the flow's `limits.maxAwaits` (10,000 by default).",
}
NoMatch "NO_MATCH" Run Reject {
    what: "No condition of a `branch` step or case of a `switch` step matched.",
    why: "The step has no `default` for other values.",
    fix: "Add a `default`, or a condition or case for the value. `riverrun runs state <id>` prints the \
          state.",
}
ResponseTooLarge "RESPONSE_TOO_LARGE" Run Reject {
    what: "The response to an `http` step is too large.",
    why: "It has more bytes than the step's `maxResponseBytes` (1 MiB by default).",
    fix: "Ask the server for less, for example a page instead of all rows, or raise \
          `maxResponseBytes` in the step's config.",
}
StepNotFound "STEP_NOT_FOUND" Run Reject {
    what: "The run was to enter a step that its flow does not have.",
    why: "A transition, an `onTimeout` or an `onFailure` names an unknown step.",
    fix: "Correct the target, and register the flow under a new version. `riverrun flows validate \
          flow.yaml` finds such targets.",
}
TooDeep "TOO_DEEP" Request(422) Reject {
    what: "A value of the run has too many levels, and nothing was written.",
    why: "The input, a write to the state or the output of a step nests more than 100 levels of \
          objects and arrays. A loop that wraps a value in each round is the most common cause.",
    fix: "Flatten the value, or store the inner part as text.",
}
TransformError "TRANSFORM_ERROR" Run Reject {
    what: "A `transform` step failed.",
    why: "Its input does not have the shape that the config expects, or an expression failed.",
    fix: "Compare the step's config with its input: `riverrun runs show <id>`.",
}
ValueTooLarge "VALUE_TOO_LARGE" Request(413) Reject {
    what: "A value of the run is too large.",
    why: "A step's output, a value that a template builds, a write to the state, the result of \
          `ctx.run` or the data of an emitted event exceeds the flow's `limits.maxValueBytes` (1 MiB \
          by default).",
    fix: "Store large data elsewhere and keep its address, or raise `limits.maxValueBytes` in the \
          flow.",
}
    } };
}
