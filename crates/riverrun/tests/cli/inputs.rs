//! What code is given when it is called again: after a wait, a failure, and the server's death.

use serde_json::{Value, json};

use crate::support::{Project, Server, until};

/// Writes over its input, fails once, waits for a word, and says what it was given each time.
const ENTRY: &str = r#"
export const config = {
  flow: { id: 'again', role: 'entry', step: 'main' },
  inputSchema: { type: 'object', additionalProperties: false, properties: { z: { type: 'number' } } },
  retryPolicy: { attempts: 2, backoff: { type: 'fixed', delayMs: 1 } },
}
export default async (input, ctx) => {
  const first = await ctx.run('first', () => input)
  await ctx.state.set('z', input.z + 100)
  await ctx.state.set('extra', 1)
  if (ctx.attempt === 1) throw new Error('once')
  await ctx.await.event({ kind: 'go', lookback: 'run' })
  return { first, now: input }
}
"#;

/// Its await is in its config.
const DECLARED: &str = r#"
export const config = {
  flow: { id: 'declared', role: 'entry', step: 'main', await: { type: 'event', eventKind: 'go', lookback: 'run' } },
}
export default async (input, ctx) => ({ input, by: ctx.awaited.data.by })
"#;

const LATER: &str = r#"
export const config = {}
export default async (input, ctx) => {
  const first = await ctx.run('first', () => input)
  await ctx.state.set('order', { id: 'changed' })
  await ctx.await.event({ kind: 'go', lookback: 'run' })
  return { first, now: input }
}
"#;

const GRAPH: &str = "id: graph\nversion: 1.0.0\ninitialStepId: make\nsteps:\n  make:\n    type: set\n    config: { value: { id: 1 } }\n    outputKey: order\n    transitions: { onSuccess: work }\n  work:\n    type: process\n    config: { process: later }\n    input: { type: key, key: order }\n";

fn started(server: &Server<'_>, flow: &str, input: &str) -> String {
    let run = server.json(&["run", flow, "-d", input]);
    run["runId"].as_str().unwrap().to_owned()
}

fn result(server: &Server<'_>, run: &str) -> Value {
    until(server, run, "completed")["result"].clone()
}

#[test]
fn code_is_given_the_same_input_after_a_failure_a_wait_and_a_kill() {
    let project = Project::new();
    project.write("package.json", r#"{"type":"module"}"#);
    project.write("processes/again.mjs", ENTRY);
    project.write("processes/declared.mjs", DECLARED);
    project.write("processes/later.mjs", LATER);
    project.write("flows/graph.yaml", GRAPH);
    let server = project.serve();
    let again = started(&server, "again", r#"{"z":1}"#);
    let declared = started(&server, "declared", "5");
    let graph = started(&server, "graph", "{}");
    let runs = [&again, &declared, &graph];
    for run in runs {
        until(&server, run, "waiting");
    }
    // The state that was written over is all that the next server finds, but for the stream.
    server.kill();
    let server = project.serve();
    server.ok(&["emit", "go", "-d", r#"{"by":"ann"}"#]);
    let same = |input: Value| json!({"first": input, "now": input});
    assert_eq!(result(&server, &again), same(json!({"z": 1})));
    assert_eq!(until(&server, &again, "completed")["state"]["z"], 101);
    assert_eq!(result(&server, &graph), same(json!({"id": 1})));
    let of_declared = result(&server, &declared);
    assert_eq!(of_declared, json!({"input": 5, "by": "ann"}));
}
