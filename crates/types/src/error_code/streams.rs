//! Codes of events, streams and the connections that follow them.

macro_rules! streams {
    ($($before:tt)*) => { collect! { $($before)*

BadEvent "BAD_EVENT" Request(400) Reject {
    what: "The server rejected an event.",
    why: "It has no `type`, its type is not a valid name, or another field has the wrong type.",
    fix: "Send an object with a type and optional data: `riverrun emit order.paid -d '{\"id\": 42}'`.",
}
BadKind "BAD_KIND" Request(400) Reject {
    what: "The server rejected an event type to subscribe to, wait for or trigger on.",
    why: "It is not a valid type, there are none or more than 32, or riverrun writes these events \
          itself and does not deliver them here: `job.*` is in no stream; triggers also cannot use \
          `log.*`, `state.*` and similar types, and awaits cannot use `flow.*` and `step.*`.",
    fix: "Name 1 to 32 types such as `order.paid`, or families such as `flow`. To follow jobs, use \
          their queue: `riverrun tail queue/<name>`. To react to the end of a run, use a trigger on \
          `flow.failed` or `flow.completed`.",
}
DuplicateSubscription "DUPLICATE_SUBSCRIPTION" Request(409) Reject {
    what: "The WebSocket already has an open subscription with this id.",
    why: "Ids of subscriptions are unique for each connection.",
    fix: "Choose another id, or unsubscribe the earlier one first.",
}
EventExists "EVENT_EXISTS" Request(409) Retry {
    what: "Events with this idempotency key were stored a moment ago.",
    why: "Another request with the same key arrived at the same time.",
    fix: "Send the request again: the server then returns the stored events.",
}
ReservedStream "RESERVED_STREAM" Request(403) Reject {
    what: "The server rejected events for a stream that only it writes.",
    why: "Streams of the registry, of calls, queues and workers are written by the server, and so is \
          `global` under any other id than `global`.",
    fix: "Append to `global/global`, to a run, or to a stream of your own type, such as `orders/42`.",
}
ReservedType "RESERVED_TYPE" Request(403) Reject {
    what: "The server rejected an event of a type that only it writes.",
    why: "Types such as `flow.completed`, `step.failed` or `job.added` say what happened to runs, \
          steps, jobs, calls, triggers and workers.",
    fix: "Use a type of your own, such as `order.paid`.",
}
StoryNotFound "STORY_NOT_FOUND" Request(404) Reject {
    what: "Nothing has this correlation id.",
    why: "The id is wrong, or everything with it was deleted when its retention was over.",
    fix: "Check the id. The id of a run or a job works too: `riverrun runs story <id>`.",
}
StreamNotFound "STREAM_NOT_FOUND" Request(404) Reject {
    what: "The stream does not exist.",
    why: "A stream exists from its first event on. The name is wrong, nothing was appended yet, or \
          the stream was deleted.",
    fix: "Check type and id, as in `riverrun tail orders/42`. Append the first event to create the \
          stream.",
}
SubscriptionNotFound "SUBSCRIPTION_NOT_FOUND" Request(404) GiveUp {
    what: "The WebSocket has no open subscription with this id.",
    why: "It was unsubscribed before, was rejected, or ended because its stream was deleted.",
    fix: "Subscribe again if you still need it.",
}
TooManySubscriptions "TOO_MANY_SUBSCRIPTIONS" Request(429) Retry {
    what: "The WebSocket has as many subscriptions as it may have.",
    why: "One connection has at most 1,000 subscriptions.",
    fix: "Unsubscribe what you no longer need, subscribe to event types instead of single streams, or \
          open another WebSocket.",
}
    } };
}
