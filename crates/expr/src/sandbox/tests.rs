use super::*;

fn small() -> Sandbox {
    let limits = Limits {
        threads: 1,
        ..Limits::default()
    };
    Sandbox::new(limits).unwrap()
}

fn eval(sandbox: &Sandbox, source: &str, args: &[Arg<'_>]) -> Result<Option<String>, Error> {
    let expr = Expr::compile(source)?;
    let json = sandbox.eval_blocking(&expr, args)?;
    Ok(json.map(|json| json.get().to_owned()))
}

fn is_json(sandbox: &Sandbox, source: &str, expected: &str) {
    let args = [
        Arg::new(
            "input",
            r#"{"a": 2, "xs": [3, 1, 2], "name": "Ada", "n": 9007199254740993}"#,
        ),
        Arg::new("state", r#"{"a": 40}"#),
    ];
    let answer = eval(sandbox, source, &args);
    assert_eq!(answer, Ok(Some(expected.to_owned())), "{source}");
}

fn fails(sandbox: &Sandbox, source: &str, code: &str, message: &str) {
    match eval(sandbox, source, &[Arg::new("input", r#"{"a": 1}"#)]) {
        Err(error) => {
            assert_eq!(error.code(), code, "{source}: {error}");
            assert!(error.to_string().contains(message), "{source}: {error}");
        }
        Ok(answer) => panic!("{source}: {answer:?}"),
    }
}

#[test]
fn errors_can_be_read_by_the_name_that_the_specifications_use() {
    let sandbox = small();
    let event = r#"{"data":{"error":{"code":"E","retriable":false}},
        "own":{"retriable":true,"retryable":1},"list":[{"retriable":true}]}"#;
    let args = [Arg::new("event", event)];
    for (source, expected) in [
        ("(e) => e.data.error.retryable === false", "true"),
        ("event.data.error.retryable", "false"),
        ("event.own.retryable", "1"),
        ("event.data.retryable === undefined", "true"),
        ("event.list.some((error) => error.retryable)", "true"),
        (
            "!event.data.error.retryable && event.own.retryable === 1",
            "true",
        ),
        // Results do not contain the older name.
        (
            "(e) => e.data.error.retryable ? 1 : e.data.error",
            r#"{"code":"E","retriable":false}"#,
        ),
    ] {
        let native = Expr::compile(source).unwrap();
        if let Some(found) = native.eval_native(&args) {
            assert_eq!(found.unwrap().unwrap().get(), expected, "{source}");
        }
        let quickjs = Expr::compile_for_quickjs(source).unwrap();
        let found = sandbox.eval_blocking(&quickjs, &args).unwrap().unwrap();
        assert_eq!(found.get(), expected, "{source}");
    }
}

#[test]
fn expressions_see_names_and_functions_get_positions() {
    let sandbox = small();
    for (source, expected) in [
        ("input.a + state.a", "42"),
        ("({ sum: input.a })", r#"{"sum":2}"#),
        ("{ sum: input.a }", r#"{"sum":2}"#),
        ("(x, y) => x.a + y.a", "42"),
        ("function (x) { return x.xs.map(n => n * 2) }", "[6,2,4]"),
        ("() => state.a + 1", "41"),
        ("(x, ...rest) => rest.length", "1"),
        ("(x) => x === input", "true"),
        ("(x) => x.a === input.a && x === input", "true"),
        ("input.xs.toSorted().join('-')", r#""1-2-3""#),
        ("`${input.name}!`", r#""Ada!""#),
        ("/^A.a$/.test(input.name)", "true"),
        ("NaN", "null"),
        ("[undefined, () => 1]", "[null,null]"),
        (
            "new Date('2024-02-30T00:00:00Z').toISOString()",
            r#""2024-03-01T00:00:00.000Z""#,
        ),
        ("new Date(0)", r#""1970-01-01T00:00:00.000Z""#),
        (
            "[new Date(0) instanceof Date, (() => 1) instanceof Function]",
            "[true,true]",
        ),
        ("'\\ud800'", r#""\ud800""#),
        ("typeof nobody", r#""undefined""#),
    ] {
        is_json(&sandbox, source, expected);
    }
    for source in ["input.nothing", "void 0", "() => {}", "x => x.none"] {
        let answer = eval(&sandbox, source, &[Arg::new("input", "{}")]);
        assert_eq!(answer, Ok(None), "{source}");
    }
}

#[test]
fn integers_survive_native_paths_and_are_rounded_by_quickjs() {
    let sandbox = small();
    is_json(&sandbox, "input.n", "9007199254740993");
    is_json(&sandbox, "input.n + 0", "9007199254740992");
}

#[test]
fn failures_have_codes() {
    let sandbox = small();
    for (source, code, message) in [
        (
            "input.b.c",
            "EXPR_THROWN",
            "TypeError: cannot read property 'c' of undefined",
        ),
        (
            "input.b.c + 1",
            "EXPR_THROWN",
            "TypeError: cannot read property 'c' of undefined",
        ),
        (
            "nobody + 1",
            "EXPR_THROWN",
            "ReferenceError: nobody is not defined",
        ),
        ("() => { throw 'plain' }", "EXPR_THROWN", "plain"),
        ("() => { throw { why: 1 } }", "EXPR_THROWN", r#"{"why":1}"#),
        ("() => { throw undefined }", "EXPR_THROWN", "undefined"),
        (
            "() => { throw new (class Own extends Error { name = 'Own' })('x') }",
            "EXPR_THROWN",
            "Own: x",
        ),
        (
            "() => { const f = () => f(); return f() }",
            "EXPR_THROWN",
            "stack",
        ),
        ("Symbol('x')", "EXPR_NOT_JSON", "symbol"),
        ("10n", "EXPR_NOT_JSON", "bigint"),
        ("[10n]", "EXPR_NOT_JSON", ""),
        ("() => () => 1", "EXPR_NOT_JSON", "function"),
        (
            "() => { const a = {}; a.a = a; return a }",
            "EXPR_NOT_JSON",
            "circular",
        ),
        ("Promise.resolve(1)", "EXPR_ASYNC", ""),
        ("(async () => 1)()", "EXPR_ASYNC", ""),
        ("import('x')", "EXPR_ASYNC", ""),
        ("Promise.resolve(1).then(() => 1) && 1", "EXPR_ASYNC", ""),
        ("'x'.repeat(2 << 20)", "EXPR_TOO_LARGE", "result"),
        ("Date.now()", "EXPR_THROWN", "pass the time in as input"),
        ("new Date()", "EXPR_THROWN", "pass the time in as input"),
        ("Date()", "EXPR_THROWN", "pass the time in as input"),
        (
            "new input.constructor.constructor('return 1')()",
            "EXPR_THROWN",
            "code from a string",
        ),
        (
            "new Date(0).constructor.now()",
            "EXPR_THROWN",
            "pass the time in as input",
        ),
        ("Math.random()", "EXPR_THROWN", "deterministic"),
        ("eval('1')", "EXPR_THROWN", "code from a string"),
        ("(0, eval)('1')", "EXPR_THROWN", "code from a string"),
        (
            "new Function('return 1')()",
            "EXPR_THROWN",
            "code from a string",
        ),
        (
            "(() => {}).constructor('return 1')()",
            "EXPR_THROWN",
            "code from a string",
        ),
        (
            "(function* () {}).constructor('yield 1')",
            "EXPR_THROWN",
            "code from a string",
        ),
        (
            "(async () => {}).constructor('await 1')",
            "EXPR_THROWN",
            "code from a string",
        ),
        ("performance.now()", "EXPR_THROWN", "not defined"),
    ] {
        fails(&sandbox, source, code, message);
    }
    let bad = Error::bad_argument("input");
    for source in ["input", "input.a", "input.a + 1", "x => x"] {
        let answer = eval(&sandbox, source, &[Arg::new("input", "{oops")]);
        assert_eq!(answer, Err(bad.clone()), "{source}");
    }
    let long = "1".repeat(crate::MAX_SOURCE_BYTES + 1);
    assert_eq!(Expr::compile(&long).unwrap_err().code(), "EXPR_TOO_LARGE");
}

#[test]
fn what_breaks_a_limit_harms_nobody_else() {
    let sandbox = small();
    for (source, code) in [
        ("() => { while (true) {} }", "EXPR_TIMEOUT"),
        (
            "() => { while (true) { try { while (true) {} } catch { } finally { continue } } }",
            "EXPR_TIMEOUT",
        ),
        ("/(a+)+$/.test('a'.repeat(40) + 'b')", "EXPR_TIMEOUT"),
        ("({ toJSON() { while (true) {} } })", "EXPR_TIMEOUT"),
        (
            "() => { const xs = []; while (true) xs.push(new Array(1000).fill(1)) }",
            "",
        ),
        ("() => { let s = 'xy'; while (true) s += s + 'z'; }", ""),
        ("'x'.repeat(64 << 20)", "EXPR_MEMORY"),
        ("new Uint8Array(1 << 30)", ""),
        (
            "() => { const o = {}; for (let i = 0; ; i++) o['k' + i] = { o } }",
            "",
        ),
    ] {
        // Where none is named, either limit may strike first: that depends on the machine's speed.
        let code = if code.is_empty() { "EXPR_" } else { code };
        let error = eval(&sandbox, source, &[]).unwrap_err();
        assert!(error.code().as_str().starts_with(code), "{source}: {error}");
        is_json(&sandbox, "input.a * 2", "4");
    }
}

/// Each of the first kind tries to leave something; the second looks for it.
#[test]
fn nothing_leaks_from_one_evaluation_to_the_next() {
    let sandbox = small();
    for (leave, look) in [
        ("Object.prototype.x = 1", "({}).x"),
        ("({}).__proto__.x = 1", "({}).x"),
        (
            "globalThis.y = 2",
            "typeof y === 'undefined' ? undefined : y",
        ),
        ("this.y = 2", "globalThis.y"),
        (
            "Array.prototype.map = () => 'owned'",
            "[1].map(x => x)[0] === 1 ? undefined : 1",
        ),
        ("Object.defineProperty(JSON, 'z', { value: 1 })", "JSON.z"),
        ("Math.z = 1", "Math.z"),
        (
            "Object.setPrototypeOf(Object.prototype, { z: 1 })",
            "({}).z",
        ),
        ("Object.setPrototypeOf(Math, { z: 1 })", "Math.z"),
        (
            "Error.prepareStackTrace = () => 'owned'",
            "Error.prepareStackTrace",
        ),
        ("Error.stackTraceLimit = 1", "Error.stackTraceLimit"),
        (
            "Object.getPrototypeOf(function* () {}).z = 1",
            "(function* () {}).z",
        ),
        (
            "Object.getPrototypeOf(function* () {}).prototype.z = 1",
            "(function* () {})().z",
        ),
        (
            "Object.getPrototypeOf([].values()).next = () => 1",
            "[...[1]][0] === 1 ? undefined : 1",
        ),
        (
            "Object.getPrototypeOf([].values().map(x => x)).z = 1",
            "[].values().map(x => x).z",
        ),
        (
            "Object.getPrototypeOf(Iterator.from({ next() {} })).z = 1",
            "Iterator.from({ next() {} }).z",
        ),
        (
            "Object.getPrototypeOf(''.matchAll(/x/g)).z = 1",
            "''.matchAll(/x/g).z",
        ),
        (
            "Object.getPrototypeOf(new Map().keys()).z = 1",
            "new Map().keys().z",
        ),
        (
            "Object.getPrototypeOf(async function* () {}).prototype.z = 1",
            "(async function* () {}).prototype.z",
        ),
        ("(x => x).constructor.z = 1", "(x => x).constructor.z"),
        (
            "Object.getOwnPropertyDescriptor(Object.prototype, '__proto__').get.z = 1",
            "Object.getOwnPropertyDescriptor(Object.prototype, '__proto__').get.z",
        ),
        ("(t => t.z = 1)((x => x)`a`)", "((x => x)`a`).z"),
        (
            "RegExp.prototype.exec = () => null",
            "/x/.test('x') ? undefined : 1",
        ),
        ("/(x)/.exec('x') && RegExp.$1", "RegExp.$1"),
        (
            "Date.prototype.getTime = () => 1",
            "new Date(5).getTime() === 5 ? undefined : 1",
        ),
        (
            "Promise.prototype.then = () => 1",
            "Promise.prototype.then.length === 2 ? undefined : 1",
        ),
        (
            "Object.getOwnPropertyDescriptor(Object.prototype, 'toString').set.call(Object.prototype, 1)",
            "typeof Object.prototype.toString === 'function' ? undefined : 1",
        ),
    ] {
        let _ = eval(&sandbox, leave, &[]);
        assert_eq!(eval(&sandbox, look, &[]), Ok(None), "{leave}");
    }
}

/// The same expression, and so the same cached function, must not remember its last call.
#[test]
fn a_cached_function_starts_anew_each_time() {
    let sandbox = small();
    for source in [
        "(() => { let n = 0; return ++n + (input.n = (input.n || 0) + 1) })()",
        "((t) => 2)`x`",
        "(() => { const r = /a/g; r.test('aa'); return r.lastIndex + 1 })()",
        "(() => { class A { static n = 1 }; return ++A.n })()",
    ] {
        let expr = Expr::compile(source).unwrap();
        for _ in 0..3 {
            let answer = sandbox.eval_blocking(&expr, &[Arg::new("input", "{}")]);
            assert_eq!(answer.unwrap().unwrap().get(), "2", "{source}");
        }
    }
}

#[test]
fn everything_shared_is_frozen() {
    let sandbox = small();
    let source = "() => {
        const seen = new Set(), open = [], pending = [[globalThis, 'globalThis']];
        while (pending.length) {
            const [object, path] = pending.pop();
            if (Object(object) !== object || seen.has(object)) continue;
            seen.add(object);
            if (!Object.isFrozen(object)) open.push(path);
            pending.push([Object.getPrototypeOf(object), path + '.__proto__']);
            for (const key of Reflect.ownKeys(object)) {
                const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
                for (const next of [value, get, set]) pending.push([next, path + '.' + String(key)]);
            }
        }
        return seen.size > 500 ? open : seen.size
    }";
    is_json(&sandbox, source, "[]");
}

#[test]
fn frozen_prototypes_do_not_forbid_own_properties() {
    let sandbox = small();
    is_json(
        &sandbox,
        "() => { const o = {}; for (const k of ['constructor', 'toString', 'valueOf']) o[k] = k; return o }",
        r#"{"constructor":"constructor","toString":"toString","valueOf":"valueOf"}"#,
    );
    is_json(
        &sandbox,
        "() => { const e = new TypeError('x'); e.name = 'Mine'; e.message = 'y'; return String(e) }",
        r#""Mine: y""#,
    );
}

#[test]
fn the_same_expression_may_be_bound_to_other_names() {
    let sandbox = small();
    let expr = Expr::compile("a + 1").unwrap();
    let json = |args: &[Arg<'_>]| sandbox.eval_blocking(&expr, args).map(|json| json.unwrap());
    assert_eq!(json(&[Arg::new("a", "1")]).unwrap().get(), "2");
    assert_eq!(
        json(&[Arg::new("b", "1"), Arg::new("a", "2")])
            .unwrap()
            .get(),
        "3"
    );
    assert_eq!(
        json(&[Arg::new("b", "1")]).unwrap_err().code(),
        "EXPR_THROWN"
    );
    for name in ["", "not a name", "a=1", "a){}", "class"] {
        assert!(json(&[Arg::new(name, "1")]).is_err(), "{name}");
    }
}

#[test]
fn more_expressions_than_the_cache_holds() {
    let sandbox = small();
    let exprs: Vec<_> = (0..600)
        .map(|n| Expr::compile(&format!("input.a + {n}")).unwrap())
        .collect();
    for _ in 0..2 {
        for (n, expr) in exprs.iter().enumerate() {
            let answer = sandbox.eval_blocking(expr, &[Arg::new("input", r#"{"a": 1}"#)]);
            assert_eq!(answer.unwrap().unwrap().get(), (n + 1).to_string());
        }
    }
}

#[test]
fn a_stuck_builtin_is_answered_and_its_thread_replaced() {
    let sandbox = small();
    for stuck in [
        "new Array(2 ** 32 - 1).join('')",
        "'a'.repeat(1 << 23).indexOf('a'.repeat(1 << 22) + 'b')",
    ] {
        let code = eval(&sandbox, stuck, &[]).unwrap_err().code();
        assert_eq!(code, "EXPR_TIMEOUT", "{stuck}");
    }
    is_json(&sandbox, "input.a * 2", "4");
}

#[tokio::test]
async fn cancelled_evaluations_do_not_wedge_the_threads() {
    let sandbox = small();
    let endless = Expr::compile("() => { while (true) {} }").unwrap();
    for _ in 0..4 {
        let mut eval = Box::pin(sandbox.eval(&endless, &[]));
        // Polled once, so that the job is queued, then dropped.
        std::future::poll_fn(|cx| {
            assert!(eval.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
        // Dropped once a thread has taken the job, at the latest.
        while sandbox.queued() > 0 {
            tokio::task::yield_now().await;
        }
    }
    let expr = Expr::compile("input.a + 1").unwrap();
    let answer = sandbox
        .eval(&expr, &[Arg::new("input", r#"{"a": 1}"#)])
        .await;
    assert_eq!(answer.unwrap().unwrap().get(), "2");
}

#[tokio::test]
async fn callers_wait_for_a_full_queue() {
    let limits = Limits {
        queue_len: 1,
        ..Limits::default()
    };
    let sandbox = Arc::new(Sandbox::new(limits).unwrap());
    let expr = Expr::compile("input * 2").unwrap();
    let evals = (0..200).map(|n| {
        let (sandbox, expr) = (Arc::clone(&sandbox), expr.clone());
        tokio::spawn(async move {
            let json = n.to_string();
            let answer = sandbox.eval(&expr, &[Arg::new("input", &json)]).await;
            assert_eq!(answer.unwrap().unwrap().get(), (n * 2).to_string());
        })
    });
    for eval in evals.collect::<Vec<_>>() {
        eval.await.unwrap();
    }
}

/// Run with `--release --run-ignored only --no-capture` to see what evaluations cost.
#[test]
#[ignore = "a measurement, not a check"]
#[allow(clippy::print_stdout)]
fn measure() {
    let sandbox = small();
    let json = r#"{"a": 21, "user": {"name": "Ada", "id": 9007199254740993}, "items": [1, 2, 3]}"#;
    let args = [Arg::new("input", json), Arg::new("state", "{}")];
    let time = |what: &str, rounds: u32, run: &mut dyn FnMut()| {
        run();
        let start = std::time::Instant::now();
        (0..rounds).for_each(|_| run());
        println!("{what}: {:?}", start.elapsed() / rounds);
    };
    for source in [
        "input.user.name",
        "input.a * 2",
        "x => x.items.map(n => n * 2)",
    ] {
        let expr = Expr::compile(source).unwrap();
        time(&format!("eval_blocking {source}"), 20_000, &mut || {
            sandbox.eval_blocking(&expr, &args).unwrap();
        });
        let mut realm = crate::realm::Realm::new(&Limits::default()).unwrap();
        time(&format!("in the realm  {source}"), 9_000, &mut || {
            realm.eval(&expr, &args).unwrap();
        });
    }
    let expr = Expr::compile("input.a * 2").unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    runtime.block_on(async {
        let sandbox = Sandbox::new(Limits::default()).unwrap();
        let rounds = 200;
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            let evals = std::array::from_fn::<_, 100, _>(|_| Box::pin(sandbox.eval(&expr, &args)));
            join(evals).await;
        }
        let each = start.elapsed() / rounds / 100;
        println!("eval, 100 at once: {each:?} each");
    });
    time("new realm", 100, &mut || {
        drop(crate::realm::Realm::new(&Limits::default()).unwrap());
    });
    let runtime = rquickjs::Runtime::new().unwrap();
    time("bare context", 1000, &mut || {
        drop(rquickjs::Context::full(&runtime).unwrap());
    });
    time("compile native", 1000, &mut || {
        Expr::compile("(e, ctx) => e.a === ctx.b").unwrap();
    });
    time("compile", 200, &mut || {
        Expr::compile("input.a * 2").unwrap();
    });
}

async fn join<F: Future + Unpin, const N: usize>(futures: [F; N]) {
    let mut pending = Vec::from(futures);
    std::future::poll_fn(|cx| {
        pending.retain_mut(|future| std::pin::Pin::new(future).poll(cx).is_pending());
        if pending.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await
}
