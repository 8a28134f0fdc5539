//! Expressions that cannot be interrupted: their process is killed, and others are not affected.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use riverrun_expr::{Arg, Error, Expr, Isolation, Limits, Sandbox};
use serde_json::{Value, json};

use crate::support::{PATIENCE, Project};

/// Built-in functions that do not look at the clock, over something very long.
const STUCK: &[&str] = &[
    "[].reverse.call({length: 2 ** 53 - 1})",
    "[].join.call({length: 2 ** 53 - 1})",
    "[].sort.call({length: 2 ** 53 - 1})",
    "[].includes.call({length: 2 ** 53 - 1}, 1)",
    "[].indexOf.call({length: 2 ** 53 - 1}, 1)",
    "[].fill.call({length: 2 ** 53 - 1}, 1)",
    "[].copyWithin.call({length: 2 ** 53 - 1}, 0, 1)",
    "[].unshift.call({length: 2 ** 53 - 2}, 1)",
    "new Array(2 ** 32 - 1).join('')",
    "('a'.repeat(900000) + 'b').includes('a'.repeat(450000) + 'c')",
    "('a'.repeat(900000) + 'b').indexOf('a'.repeat(450000) + 'c')",
    "('a'.repeat(900000) + 'b').lastIndexOf('a'.repeat(450000) + 'c')",
    "'a'.repeat(900000).split('a'.repeat(450000) + 'c')",
    "'x'.padStart(2 ** 29, 'ab').indexOf('ba'.repeat(2 ** 20))",
    "/^(a+)+$/.test('a'.repeat(64) + 'b')",
    "/(x+x+)+y/.exec('x'.repeat(20000))",
    "(3n ** 4000000n) % 7n",
    "(() => { let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a) })()",
    "(() => { let a = []; for (let i = 0; i < 40; i++) a = [a, a]; return a })()",
    "(() => { let a = []; for (let i = 0; i < 60; i++) a = [a, a]; return a.flat(Infinity) })()",
    "'a'.repeat(2 ** 29).repeat(2)",
    "structuredClone(1)",
    "() => { while (true) {} }",
];

fn limits(threads: usize) -> Limits {
    Limits {
        threads,
        ..Limits::default()
    }
}

fn processes(threads: usize) -> Sandbox {
    let program = Isolation::program(env!("CARGO_BIN_EXE_riverrun"));
    Sandbox::isolated(limits(threads), program).unwrap()
}

fn eval(sandbox: &Sandbox, source: &str) -> Result<Option<String>, Error> {
    let expr = Expr::compile(source)?;
    let json = sandbox.eval_blocking(&expr, &[Arg::new("input", r#"{"a": 21}"#)])?;
    Ok(json.map(|json| json.get().to_owned()))
}

fn works(sandbox: &Sandbox) {
    assert_eq!(eval(sandbox, "input.a * 2"), Ok(Some("42".to_owned())));
}

#[test]
fn what_cannot_be_interrupted_is_killed_and_others_go_on() {
    let sandbox = processes(1);
    works(&sandbox);
    let mut timeouts = 0;
    for source in STUCK {
        let answer = eval(&sandbox, source);
        let code = answer.as_ref().map_err(|error| error.code().as_str());
        timeouts += u32::from(code == Err("EXPR_TIMEOUT"));
        // Some run out of memory, or throw, before their time is over.
        let expected = [
            "EXPR_TIMEOUT",
            "EXPR_MEMORY",
            "EXPR_THROWN",
            "EXPR_NOT_JSON",
        ];
        let quick = matches!(answer, Ok(Some(_)));
        assert!(
            quick || code.is_err_and(|code| expected.contains(&code)),
            "{source}: {answer:?}"
        );
        works(&sandbox);
    }
    let stats = sandbox.stats();
    assert!(timeouts >= 12 && stats.killed >= 8, "{timeouts}, {stats:?}");
    assert_eq!((stats.crashed, stats.unavailable), (0, 0), "{stats:?}");
}

#[test]
fn twenty_at_once_leave_the_others_working() {
    let sandbox = Arc::new(processes(2));
    let stuck: Vec<_> = (0..20)
        .map(|_| {
            let sandbox = sandbox.clone();
            std::thread::spawn(move || eval(&sandbox, STUCK[0]))
        })
        .collect();
    works(&sandbox);
    for stuck in stuck {
        // Ten seconds in the line are the most that anybody waits.
        let code = stuck.join().unwrap().map_err(|error| error.code().as_str());
        assert!(
            matches!(code, Err("EXPR_TIMEOUT" | "EXPR_UNAVAILABLE")),
            "{code:?}"
        );
    }
    works(&sandbox);
}

/// What was sent together with an expression that had to be killed is answered all the same.
#[test]
fn those_behind_a_killed_one_are_evaluated_by_another_process() {
    let sandbox = processes(1);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let stuck = Expr::compile(STUCK[0]).unwrap();
    let doubled = Expr::compile("input * 2").unwrap();
    let numbers: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    runtime.block_on(async {
        let warm = sandbox.eval(&doubled, &[Arg::new("input", "1")]).await;
        assert!(warm.is_ok());
        let args: Vec<_> = numbers.iter().map(|n| [Arg::new("input", n)]).collect();
        let evals = args.iter().enumerate().map(|(n, args)| {
            let expr = if n == 3 { &stuck } else { &doubled };
            sandbox.eval(expr, args)
        });
        let answers = futures::future::join_all(evals).await;
        for (n, answer) in answers.into_iter().enumerate() {
            let answer = answer.map(|json| json.unwrap().get().to_owned());
            match n {
                3 => assert_eq!(answer.unwrap_err().code(), "EXPR_TIMEOUT"),
                n => assert_eq!(answer, Ok((n * 2).to_string())),
            }
        }
    });
    let stats = sandbox.stats();
    assert_eq!((stats.started, stats.killed), (2, 1), "{stats:?}");
}

#[test]
fn answers_are_those_of_threads() {
    let (here, there) = (Sandbox::new(limits(1)).unwrap(), processes(1));
    for source in [
        "input.a + 1",
        "(x, ...rest) => [x.a, rest.length]",
        "undefined",
        "() => { throw new TypeError('é') }",
        "() => { throw null }",
        "10n",
        "async () => 1",
        "[async () => 1][0]",
        "'\\ud800'",
        "'x'.repeat(2 << 20)",
        "new Array(1 << 26).fill(1).map(String)",
        "a b",
        "(() => { const xs = []; while (true) xs.push(xs) })()",
    ] {
        assert_eq!(eval(&there, source), eval(&here, source), "{source}");
    }
}

/// A child may die for reasons of its own, such as a system without memory.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_dies_is_replaced() {
    let sandbox = processes(1);
    works(&sandbox);
    for child in children(std::process::id()) {
        let killed = std::process::Command::new("kill")
            .args(["-9", &child.to_string()])
            .status();
        assert!(killed.unwrap().success());
    }
    works(&sandbox);
    assert_eq!(sandbox.stats().crashed, 1);
}

#[test]
fn without_a_program_expressions_are_unavailable_and_say_so() {
    let program = Isolation::program("/nowhere/riverrun");
    let sandbox = Sandbox::isolated(limits(1), program).unwrap();
    let error = eval(&sandbox, "input.a * 2").unwrap_err();
    assert_eq!(error.code(), "EXPR_UNAVAILABLE");
    assert!(error.is_retriable());
    // What needs no engine goes on.
    assert_eq!(eval(&sandbox, "input.a"), Ok(Some("21".to_owned())));
    assert!(sandbox.stats().unavailable > 0);
}

/// The parser cannot be interrupted either.
#[test]
fn a_source_that_takes_long_to_parse_is_refused() {
    let _sandbox = processes(1);
    let names: Vec<String> = (0..5_000).map(|n| format!("a{n:x}")).collect();
    let names = names.join(",");
    let nested = "()=>".repeat(150);
    let source = format!("()=>{{let {names};return {nested}[{names}]}}");
    let begun = Instant::now();
    assert!(Expr::compile(&source).is_err());
    assert!(begun.elapsed() < PATIENCE / 10, "{:?}", begun.elapsed());
    let long = format!("input.a + {}1", "1 + ".repeat(1_000));
    assert!(Expr::compile(&long).is_ok());
    let error = Expr::compile(&format!("{long} +\n  * 2")).unwrap_err();
    assert!(error.to_string().contains("2:3"), "{error}");
}

const FLOW: &str = "id: double\nversion: 1.0.0\ninitialStepId: double\nsteps:\n  double:\n    type: transform\n    config: { transform: \"SOURCE\" }\n    input: { type: full }\n    outputKey: doubled\n";

fn flow(id: &str, source: &str) -> String {
    FLOW.replace("id: double\n", &format!("id: {id}\n"))
        .replace("SOURCE", source)
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_survives_flows_full_of_them() {
    let project = Project::new();
    for (n, source) in STUCK.iter().take(6).enumerate() {
        project.write(
            &format!("flows/stuck{n}.yaml"),
            &flow(&format!("stuck{n}"), source),
        );
    }
    project.write("flows/double.yaml", &flow("double", "input.n * 2"));
    let server = project.serve();
    assert_eq!(
        children(server.id()),
        [0; 0],
        "an idle server has no children"
    );
    for round in 0..3 {
        for n in 0..6 {
            server.ok(&["run", &format!("stuck{n}")]);
        }
        let input = format!("{{\"n\": {round}}}");
        let run = server.json(&["run", "double", "--wait", "-d", &input]);
        assert_eq!(run["state"]["doubled"], round * 2, "{run:#}");
    }
    let (status, ready) = server.ask("GET", "/readyz", "");
    assert_eq!(status, 200, "{ready}");
    let ready: Value = serde_json::from_str(&ready).unwrap();
    assert_eq!(ready["status"], "ok", "{ready:#}");
    assert!(
        ready["expressions"]["killed"].as_u64() > Some(0),
        "{ready:#}"
    );
    // Killed while its children compute, it leaves none behind.
    for n in 0..6 {
        server.ok(&["run", &format!("stuck{n}")]);
    }
    let orphans = children(server.id());
    server.kill();
    let deadline = Instant::now() + PATIENCE;
    while orphans.iter().any(|pid| is_running(*pid)) {
        assert!(Instant::now() < deadline, "{orphans:?} are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold anything; what follows it does not.
        let mut after = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, of) = (after.next()?, after.next()?.parse::<u32>().ok()?);
        (of == parent && state != "Z").then_some(pid)
    });
    all.collect()
}

#[cfg(target_os = "linux")]
fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Run with `--run-ignored only --no-capture` to see what a process costs beside a thread.
#[test]
#[ignore = "a measurement, not a check"]
#[expect(clippy::print_stdout, reason = "it is what a measurement does")]
fn measure_processes_beside_threads() {
    let sandboxes = [
        ("threads", Sandbox::new(limits(2)).unwrap()),
        ("processes", processes(2)),
    ];
    let large = json!({"a": 1, "text": "x".repeat(1 << 20)}).to_string();
    let expr = Expr::compile("input.a * 2").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    for _ in 0..4 {
        for (name, sandbox) in &sandboxes {
            let cost = |rounds: u32, json: &str| {
                let args = [Arg::new("input", json)];
                runtime.block_on(async {
                    sandbox.eval(&expr, &args).await.unwrap();
                    let begun = Instant::now();
                    for _ in 0..rounds {
                        sandbox.eval(&expr, &args).await.unwrap();
                    }
                    begun.elapsed() / rounds
                })
            };
            let (small, one_mb) = (cost(3_000, r#"{"a": 1}"#), cost(50, &large));
            let many = runtime.block_on(async {
                let args = [Arg::new("input", r#"{"a": 1}"#)];
                let begun = Instant::now();
                for _ in 0..30 {
                    let evals = (0..100).map(|_| sandbox.eval(&expr, &args));
                    futures::future::join_all(evals).await;
                }
                begun.elapsed() / 3_000
            });
            println!("{name}: one {small:?}, with 1 MB {one_mb:?}, of a hundred at once {many:?}");
        }
    }
}
