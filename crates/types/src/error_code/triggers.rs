//! Codes of triggers: schedules, http triggers and event triggers.

macro_rules! triggers {
    ($($before:tt)*) => { collect! { $($before)*

CronInvalid "CRON_INVALID" Request(422) Reject {
    what: "The cron pattern of a schedule is invalid.",
    why: "It cannot be parsed, or names a time that never comes, such as February 30.",
    fix: "Use five fields (minute, hour, day, month, weekday), six with seconds first, or a word such \
          as `@daily`: `0 9 * * 1-5` is every working day at 9:00.",
}
DueTimeForgotten "DUE_TIME_FORGOTTEN" Request(409) Reject {
    what: "The backfill was rejected, and nothing was started.",
    why: "It includes due times whose runs may already be deleted, because ended runs are only kept \
          as long as `retention` says. Starting them could repeat runs that happened.",
    fix: "Start at the time that the message names: `riverrun schedules backfill <id> --from <time>`. \
          If the due times should run in any case, add `--forgotten`.",
}
SignatureInvalid "SIGNATURE_INVALID" Request(401) Reject {
    what: "A request to an http trigger or a callback was rejected because of its signature. Nothing \
           was started or resumed.",
    why: "The signature is missing or does not match the body, or its timestamp is too far from the \
          server's clock.",
    fix: "Sign the exact bytes of the body with the secret. A callback expects `x-riverrun-signature: \
          sha256=<hex>`, an HMAC-SHA256; `riverrun fire <id> --secret <secret>` sends it. For a \
          trigger, compare `config.signature` of `riverrun triggers show <id>` with the header that \
          the sender sets, and compare both clocks.",
}
TimeZoneUnknown "TIME_ZONE_UNKNOWN" Request(422) Reject {
    what: "The time zone of a schedule is unknown.",
    why: "The name is not in the IANA database of this server.",
    fix: "Use a name such as `Europe/Berlin` or `UTC`.",
}
TriggerBroken "TRIGGER_BROKEN" Request(500) Reject {
    what: "The trigger cannot be used and starts nothing.",
    why: "The environment of the server lacks the secret that the trigger names, or this version of \
          riverrun does not accept its stored definition.",
    fix: "`riverrun triggers show <id>` prints the reason. Set the variable and restart the server, or \
          change, disable or remove the trigger.",
}
TriggerChain "TRIGGER_CHAIN" Request(409) Reject {
    what: "An event trigger started no run, because the chain of runs is too long. Its stream has a \
           `trigger.failed` event.",
    why: "Each run of the chain was started by an event of the one before. Most often a flow emits the \
          event that starts it.",
    fix: "Give the trigger a `when` that ends the cycle. If long chains are intended, raise \
          `max_chain` (100 by default).",
}
TriggerDisabled "TRIGGER_DISABLED" Request(409) Reject {
    what: "The trigger is disabled, so it started nothing.",
    why: "Its definition has `enabled: false`, or `riverrun triggers disable` or the API disabled it.",
    fix: "Enable it: `riverrun triggers enable <id>`.",
}
TriggerExists "TRIGGER_EXISTS" Request(409) Reject {
    what: "A trigger with this id exists.",
    why: "It was created before, or two files of the project use the same id.",
    fix: "Change it with `PATCH /api/triggers/<id>`, remove it first with `riverrun triggers rm <id>`, \
          or choose another id.",
}
TriggerExpression "TRIGGER_EXPRESSION" Request(422) Reject {
    what: "An expression of the trigger failed, and no run was started.",
    why: "The expression that `details.field` names threw an error for this request or event.",
    fix: "`riverrun triggers history <id>` prints all failures. Correct the expression, or guard \
          against missing values.",
}
TriggerInvalid "TRIGGER_INVALID" Request(422) Reject {
    what: "The definition of the trigger is invalid, and nothing was changed.",
    why: "A field is unknown, missing or has an invalid value.",
    fix: "Correct the field that `details.field` names. `docs/guides/triggers.md` describes the fields \
          of each type.",
}
TriggerLimit "TRIGGER_LIMIT" Request(409) Reject {
    what: "The trigger was not created, because the server has too many.",
    why: "A server keeps at most 10,000 triggers.",
    fix: "Remove some with `riverrun triggers rm <id>`, or let one trigger handle several cases with \
          parameters in its path or a `when`.",
}
TriggerMoved "TRIGGER_MOVED" Request(409) Retry {
    what: "The trigger changed in between, so this change was not made.",
    why: "Another request changed or used the trigger first.",
    fix: "Read it again with `riverrun triggers show <id>`, and repeat the change if it still makes \
          sense.",
}
TriggerNotFound "TRIGGER_NOT_FOUND" Request(404) Reject {
    what: "No trigger has this id.",
    why: "The id is misspelt, or the trigger was removed.",
    fix: "`riverrun triggers ls` lists the triggers.",
}
TriggerNoSchedule "TRIGGER_NO_SCHEDULE" Request(409) Reject {
    what: "The trigger has no due times.",
    why: "Only triggers of type `schedule` have due times that a backfill can start.",
    fix: "`riverrun schedules ls` lists the schedules. `riverrun triggers fire <id>` starts a run of \
          any trigger.",
}
TriggerRouteTaken "TRIGGER_ROUTE_TAKEN" Request(409) Reject {
    what: "Another http trigger has this method and path.",
    why: "Each route belongs to one trigger. Names of parameters make no difference: `/orders/:id` and \
          `/orders/:order` are the same route.",
    fix: "Choose another path or method, or change the trigger that the message names.",
}
TriggerRunFailed "TRIGGER_RUN_FAILED" Request(500) GiveUp {
    what: "The run that a request to an http trigger waited for failed or was cancelled.",
    why: "`details` has the id of the run and its error.",
    fix: "Look at the run: `riverrun runs show <id>`.",
}
    } };
}
