//! Codes of definitions of flows, and of the inputs that they accept.

macro_rules! flows {
    ($($before:tt)*) => { collect! { $($before)*

BadDefinition "BAD_DEFINITION" Request(422) Reject {
    what: "The server cannot read the definition of a flow or trigger.",
    why: "The text is not JSON or YAML, a number in it would be rounded, or its YAML aliases expand \
          to more than the limits allow.",
    fix: "Correct the place that the message names. Check the file without a server: `riverrun flows \
          validate flow.yaml`. Send YAML with `content-type: application/yaml`.",
}
FlowConflict "FLOW_CONFLICT" Command Reject {
    what: "A worker offers a flow that already exists with other steps, so its version is not used.",
    why: "The server makes the same flow from its own processes, or another worker makes it from \
          other steps. The server's own flow always wins, and so does a flow that several workers \
          make together. Between two workers that each have the whole flow, the one that connected \
          last wins for new runs; started runs keep their version.",
    fix: "`riverrun workers ls` shows both. Deploy the same processes to all workers, or give the \
          flows different names. During a rolling deployment the conflict ends by itself.",
}
FlowExists "FLOW_EXISTS" Request(409) Reject {
    what: "Another definition is registered under this id and version.",
    why: "A registered version never changes, because runs depend on it.",
    fix: "Give the changed definition a new `version` and register it again. `riverrun flows show \
          <id>@<version>` prints the registered one.",
}
FlowIncomplete "FLOW_INCOMPLETE" Command Retry {
    what: "A process names a flow that has no entry step, so the flow was not registered.",
    why: "No connected worker and no file of the project has a process that starts this flow.",
    fix: "Connect the worker that has the entry step, or correct the flow's name in the config of the \
          process. `riverrun workers ls` lists the connected workers.",
}
FlowInvalid "FLOW_INVALID" Request(422) Reject {
    what: "The definition of the flow breaks rules, and nothing was registered.",
    why: "`details.issues` lists every problem with its path, its rule and a message.",
    fix: "Correct every issue, then check the file without a server: `riverrun flows validate \
          flow.yaml`.",
}
FlowKept "FLOW_KEPT" Request(409) GiveUp {
    what: "This definition is already registered under this id and version.",
    why: "It was registered before, by an earlier request or when the server loaded its project.",
    fix: "You do not need to do anything: the flow is there. `riverrun flows ls` lists it.",
}
FlowNotFound "FLOW_NOT_FOUND" Request(404) Reject {
    what: "No flow has this id, or not in this version.",
    why: "The flow was never registered, the id or version is misspelt, or processes that make the \
          flow together did not all load. In the last case the message names the file.",
    fix: "List the flows with `riverrun flows ls`. Register a missing one with `riverrun flows \
          register flow.yaml`, or correct the files that `riverrun processes ls` shows as broken.",
}
HandlerNotFound "HANDLER_NOT_FOUND" Request(404) Reject {
    what: "No handler has this type.",
    why: "A step or a request names a type that this server does not have, for example because the \
          flow was registered with another build.",
    fix: "`riverrun handlers ls` lists the types. Correct the step's `type`, or run the build that has \
          the handler.",
}
InputInvalid "INPUT_INVALID" Request(422) Reject {
    what: "The input breaks its schema, and nothing was started or added.",
    why: "The flow or process has an `inputSchema`, or the trigger has a schema for its bodies, and \
          the value does not match it.",
    fix: "Correct every issue that `details.issues` lists. `riverrun flows show <id>` and `riverrun \
          processes show <id>` print the schema.",
}
SchemaTooComplex "SCHEMA_TOO_COMPLEX" Request(422) Reject {
    what: "A JSON Schema, or a value for it, would take too long to evaluate. Nothing was registered \
           or started.",
    why: "The schema is too large, refers back to itself without consuming the value, multiplies \
          cases through `allOf`, `anyOf`, `oneOf` and `$ref`, or has patterns that repeat too much. \
          As the rule of an issue in INPUT_INVALID, OUTPUT_INVALID or STATE_INVALID it means that the \
          value is too large for its schema: more than 500,000 values and member names, or more than \
          50,000,000 evaluation steps.",
    fix: "The message names the limit, and `docs/limits.md` lists all of them. Refer to a part once \
          instead of twice, or check less. If branches of `anyOf` lead back to the schema, give each \
          a required member with its own `const`. Pass large arrays of numbers as text or a file.",
}
    } };
}
