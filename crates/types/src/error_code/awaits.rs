//! Codes of steps that wait, and of the requests that resume them.

macro_rules! awaits {
    ($($before:tt)*) => { collect! { $($before)*

AwaitClosed "AWAIT_CLOSED" Request(410) GiveUp {
    what: "The callback or event came too late: the run no longer waits for it.",
    why: "The run was cancelled, has ended, or continued without it.",
    fix: "You do not need to do anything. `riverrun runs show <id>` shows what became of the run.",
}
AwaitConcurrent "AWAIT_CONCURRENT" Run Reject {
    what: "A handler waits for two things at the same time.",
    why: "A step has one await at a time. The code started a second one before the first had ended, \
          for example inside `Promise.all` or `asyncio.gather`.",
    fix: "Wait for one after the other. To stop waiting after a while, give the await a timeout. To \
          wait in parallel, use a `parallel` step.",
}
AwaitExists "AWAIT_EXISTS" Request(409) Reject {
    what: "An await with this id exists.",
    why: "Ids of awaits are unique across all runs, and this one is taken.",
    fix: "Leave the id out, so that the server generates one, or choose another one.",
}
AwaitExpired "AWAIT_EXPIRED" Request(410) GiveUp {
    what: "The callback came after the timeout of its await.",
    why: "The step waits only as long as its timeout allows, and that time is over.",
    fix: "Nothing can be done for this await. Give the step a longer timeout if people need more time.",
}
AwaitFull "AWAIT_FULL" Request(429) Retry {
    what: "The await has 1,000 values that its run has not processed yet, so this one was rejected.",
    why: "The await accepts many values, and the run is paused or processes them more slowly than \
          they arrive.",
    fix: "Send it again later. `riverrun runs why <id>` prints the reason why the run does not \
          continue.",
}
AwaitInRun "AWAIT_IN_RUN" Run Reject {
    what: "A handler waits inside `ctx.run`.",
    why: "`ctx.run` records only its result, so a wait inside it could not be continued after a \
          restart.",
    fix: "Move the wait before or after `ctx.run`.",
}
AwaitNotFound "AWAIT_NOT_FOUND" Request(404) Reject {
    what: "No await or callback has this id.",
    why: "The id or link was changed or cut, or the run was deleted together with its awaits.",
    fix: "Use the id or link as it was given out. `riverrun runs why <id>` prints the id of an open \
          callback.",
}
AwaitOutsideFlow "AWAIT_OUTSIDE_FLOW" Run Reject {
    what: "A handler that is not a step of a flow tried to wait.",
    why: "Jobs and calls cannot be suspended: they have to end.",
    fix: "Make the process a step of a flow: put `flow` or `step` into its config.",
}
AwaitTimeout "AWAIT_TIMEOUT" Run GiveUp {
    what: "What the step waited for did not come in time.",
    why: "No matching event or callback arrived within the timeout of the await.",
    fix: "Catch the error in the handler, name a step in `onTimeout`, or give the await a longer \
          timeout.",
}
AwaitUsed "AWAIT_USED" Request(409) GiveUp {
    what: "The await already has its value, so this one was not used.",
    why: "A callback accepts one request. Another one, perhaps a retry of the same, came first.",
    fix: "You do not need to do anything. `riverrun runs events <id>` shows the value that counted.",
}
    } };
}
