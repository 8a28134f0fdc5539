//! Codes of expressions and of the sandbox that evaluates them.

macro_rules! expressions {
    ($($before:tt)*) => { collect! { $($before)*

ExprAsync "EXPR_ASYNC" Run Reject {
    what: "An expression returned a promise.",
    why: "It is an async function, uses `import()`, or left a promise unsettled. Expressions cannot \
          wait.",
    fix: "Remove `async`, `await` and promises, or do the work in a handler.",
}
ExprClosed "EXPR_CLOSED" Request(503) Retry {
    what: "An expression was not evaluated because the sandbox has stopped.",
    why: "The server is stopping.",
    fix: "Send the request again when the server is back. Runs continue by themselves.",
}
ExprCrashed "EXPR_CRASHED" Run Reject {
    what: "An expression crashed the process that evaluated it, twice. Nothing else was affected.",
    why: "It triggers a defect of the JavaScript engine, or exhausts its process.",
    fix: "Simplify the expression that the message names, or do the work in a handler.",
}
ExprMemory "EXPR_MEMORY" Run Reject {
    what: "An expression used too much memory.",
    why: "It allocated more than `expr.memory_bytes` (32 MiB by default).",
    fix: "Select less data before the expression, do the work in a handler, or raise the limit: \
          `riverrun serve --set expr.memory_bytes=67108864`.",
}
ExprNotJson "EXPR_NOT_JSON" Run Reject {
    what: "An expression returned a value that has no JSON form.",
    why: "The value is or contains a function, a symbol, a bigint or a cycle.",
    fix: "Return plain objects, arrays, texts, numbers, booleans or null.",
}
ExprSyntax "EXPR_SYNTAX" Run Reject {
    what: "An expression cannot be parsed.",
    why: "It is not one JavaScript expression or function. The message has the line and column.",
    fix: "Correct that place, and check the file: `riverrun flows validate flow.yaml`.",
}
ExprThrown "EXPR_THROWN" Run Reject {
    what: "An expression threw an error.",
    why: "The message is the error's own. Most often a value is missing. The current time, random \
          numbers and `eval` are not available, so that results can be repeated.",
    fix: "Guard against missing values, as in `state.user?.name`. `riverrun runs state <id>` prints \
          the state that it saw.",
}
ExprTimeout "EXPR_TIMEOUT" Run Reject {
    what: "An expression took too long and was stopped.",
    why: "It ran for more than `expr.time` (250 ms by default), for example in an endless loop or in \
          a pattern that backtracks on a long text.",
    fix: "Work on less data, or do the work in a handler. Raise the limit if the time is justified: \
          `riverrun serve --set expr.time=1s`.",
}
ExprTooLarge "EXPR_TOO_LARGE" Run Reject {
    what: "The source or the result of an expression is too large.",
    why: "A source may have 64 KiB, a result `expr.output_bytes` (1 MiB by default).",
    fix: "Return less, do the work in a handler, or raise `expr.output_bytes`.",
}
ExprUnavailable "EXPR_UNAVAILABLE" Request(503) Retry {
    what: "No process of the sandbox became free for an expression within 10 s.",
    why: "All processes are busy, or the system has no memory or processes left to start one.",
    fix: "Try again; runs and triggers retry by themselves. If it continues, read the server's log, \
          and raise `expr.threads` if the machine has free cores.",
}
ExpressionError "EXPRESSION_ERROR" Run Reject {
    what: "An expression of a subscription or an await failed, and the event was skipped. The run's \
           stream has a warning.",
    why: "The `when` or `map` of a subscription, or the `where` of an await, threw an error or made \
          too much data. It sees `event` and `ctx`; a field that it reads may be missing.",
    fix: "Read the warning with `riverrun runs events <id> --type log.warn`, and correct the \
          expression that it names.",
}
    } };
}
