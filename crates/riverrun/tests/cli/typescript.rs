//! TypeScript with nothing installed, on the oldest Node that is supported, the machine's and a new
//! one.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::Project;

/// The machine's Node, and those that scripts/nodes.sh installs.
fn nodes() -> Vec<PathBuf> {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/nodes");
    let others: Vec<PathBuf> = ["18.19.1", "26.10.0"]
        .into_iter()
        .map(|version| nodes.join(version).join("node_modules/node/bin/node"))
        .collect();
    for node in &others {
        assert!(
            node.exists(),
            "{} is not there; make test installs it with scripts/nodes.sh",
            node.display()
        );
    }
    [vec![PathBuf::from("node")], others].concat()
}

/// Fifty files that import each other, as TypeScript writes it.
fn chain(project: &Project) {
    project.write(
        "tsconfig.json",
        r#"{"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}} // all"#,
    );
    for n in 0..50 {
        let next = n + 1;
        let code = format!(
            "import {{ sum as rest, type Sum }} from './n{next}'\nexport const sum: Sum = rest + 1 as number\n"
        );
        project.write(&format!("lib/n{n}.ts"), &code);
    }
    project.write(
        "lib/n50.ts",
        "export type Sum = number\nexport const sum: Sum = 0\n",
    );
}

#[test]
fn typescript_loads_on_every_node_with_nothing_installed() {
    for node in nodes() {
        let project = Project::new();
        project.write(
            "riverrun.toml",
            &format!("[runners]\nnode = {:?}\n", node.to_str().unwrap()),
        );
        chain(&project);
        project.write(
            "processes/add.ts",
            "import { Context, NonRetriableError } from 'riverrun'\nimport { sum } from '@/n0.js'\n\nenum Kind {\n  Good = 'good',\n  Bad = 'bad',\n}\n\nexport default async (input: { kind: Kind }, ctx: Context) => {\n  ctx.logger.info('adding', { kind: input.kind, n: 2 })\n  if (input.kind === Kind.Bad) throw new NonRetriableError('not this one')\n  return { sum, kind: Kind.Good }\n}\n",
        );
        project.write(
            "processes/old.cts",
            "import path = require('node:path')\nconst { twice } = require('./_twice') as { twice(n: number): number }\nmodule.exports = (n: number): unknown => [path.basename(__filename), twice(n)]\n",
        );
        project.write(
            "processes/_twice.cts",
            "exports.twice = (n: number): number => n * 2\n",
        );
        let server = project.serve();
        let good = server.json(&["call", "add", "-d", r#"{"kind": "good"}"#]);
        assert_eq!(good, json!({"sum": 50, "kind": "good"}), "{node:?}");
        assert_eq!(
            server.json(&["call", "old", "-d", "4"]),
            json!(["old.cts", 8])
        );
        // Lines are those of the file, though the enum took more than blanking.
        let bad = server.run(&["jobs", "add", "add", "-d", r#"{"kind": "bad"}"#, "--wait"]);
        bad.refused(1, &["not this one"]);
        let shown = server.ok(&["jobs", "show", "latest"]);
        assert!(shown.contains("add.ts:11:"), "{node:?}: {shown}");
        let logs = server.ok(&["jobs", "logs", "latest"]);
        assert!(logs.contains("adding  kind=bad n=2"), "{logs}");
        assert!(logs.contains("add.ts:11:"), "{logs}");
        server.kill();
    }
}

/// The parser is recursive: two million brackets exhaust its stack.
#[test]
fn a_file_that_kills_the_parser_harms_no_other() {
    let project = Project::new();
    project.write("processes/good.ts", "export default (n: number) => n + 1\n");
    let deep = format!("export default {}1\n", "(".repeat(2_000_000));
    project.write("processes/deep.ts", &deep);
    let large = format!("export default 1 // {}\n", " ".repeat(9 << 20));
    project.write("processes/large.ts", &large);
    project.write("processes/typo.ts", "export default (a: ) => 1\n");
    let server = project.serve();
    assert_eq!(server.json(&["call", "good", "-d", "1"]), 2);
    for (process, code) in [
        ("deep", "MODULE_TS"),
        ("large", "MODULE_TS"),
        ("typo", "typo.ts:1:20"),
    ] {
        let called = server.run(&["call", process, "-d", "1"]);
        assert_ne!(called.code, 0);
        assert!(called.err.contains(code), "{process}: {}", called.err);
    }
    assert_eq!(server.json(&["call", "good", "-d", "2"]), 3);
}
