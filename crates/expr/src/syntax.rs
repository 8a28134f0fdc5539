//! Parses a source with QuickJS without running any of it.

use rquickjs::context::intrinsic;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Module, Runtime};

use crate::Error;

const MEMORY_BYTES: usize = 32 << 20;
const STACK_BYTES: usize = 256 << 10;

/// Each Unicode property in a regular expression costs the parser up to half a millisecond.
const MAX_UNICODE_PROPERTIES: usize = 64;

/// The source as the body of a function of these names. It starts on the second line, which keeps
/// its columns, and ends before a line break, which closes its last comment.
pub(crate) fn wrap(names: &[&str], source: &str) -> String {
    format!("(({})=>(\n{source}\n))", names.join(","))
}

/// Accepts exactly the sources that are one expression, and so cannot step out of [`wrap`].
///
/// A source such as `1), (2` is an expression only thanks to the parentheses around it. Put
/// between brackets it is none, and no source can close both kinds. Both are compiled as modules,
/// which runs nothing; the script that evaluation will use is only tried once both have passed.
pub(crate) fn check(source: &str) -> Result<(), Error> {
    if source.trim().is_empty() {
        return Err(syntax_error("the source is empty", 1, 1));
    }
    if source.contains('\0') {
        return Err(syntax_error("the source has a NUL character", 1, 1));
    }
    let properties = source.matches("\\p{").count() + source.matches("\\P{").count();
    if properties > MAX_UNICODE_PROPERTIES {
        let message = format!(
            "the source has {properties} Unicode properties such as \\p{{L}}, the limit is {MAX_UNICODE_PROPERTIES}"
        );
        return Err(syntax_error(&message, 1, 1));
    }
    let engine = || -> rquickjs::Result<Context> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MEMORY_BYTES);
        runtime.set_max_stack_size(STACK_BYTES);
        Context::builder()
            .with::<(
                intrinsic::Eval,
                intrinsic::RegExpCompiler,
                intrinsic::RegExp,
            )>()
            .build(&runtime)
    };
    let context = engine().map_err(|_| Error::Memory {
        bytes: MEMORY_BYTES,
    })?;
    context.with(|ctx| {
        declare(&ctx, wrap(&[], source))?;
        declare(&ctx, format!("(()=>[\n{source}\n])"))?;
        let script = ctx.eval::<Function<'_>, _>(wrap(&[], source)).catch(&ctx);
        script.map(drop).map_err(|error| describe(&error))
    })?;
    if is_async(source) {
        return Err(Error::Async);
    }
    Ok(())
}

fn declare(ctx: &Ctx<'_>, text: String) -> Result<(), Error> {
    let module = Module::declare(ctx.clone(), "expr", text).catch(ctx);
    module.map(drop).map_err(|error| describe(&error))
}

/// Whether a source that parses is an async function. A call of something named `async` looks the
/// same from here; nothing that an expression could call bears that name.
fn is_async(source: &str) -> bool {
    let Some(rest) = source.trim_start().strip_prefix("async") else {
        return false;
    };
    let starts_name = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    rest.trim_start().starts_with('(') || {
        rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with(starts_name)
    }
}

fn describe(error: &CaughtError<'_>) -> Error {
    let CaughtError::Exception(exception) = error else {
        return syntax_error(&error.to_string(), 1, 1);
    };
    let message = exception.message().unwrap_or_default();
    let (line, column) = exception
        .stack()
        .as_deref()
        .and_then(position)
        .unwrap_or((2, 1));
    syntax_error(&message, line.saturating_sub(1).max(1), column)
}

/// The end of the first line of a stack, as in `    at expr:2:7`.
fn position(stack: &str) -> Option<(u32, u32)> {
    let first = stack.lines().next()?.trim_end_matches(')');
    let mut parts = first.rsplit(':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some((line, column))
}

fn syntax_error(message: &str, line: u32, column: u32) -> Error {
    Error::Syntax {
        message: message.to_owned(),
        line,
        column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_and_functions_parse() {
        for source in [
            "input.a + 1",
            "{ a: 1, b: [input] }",
            "(e, ctx) => e.id === ctx.id",
            "function (x) { return x }",
            "function named(x) { return x }",
            "class { }",
            "x => { const y = x * 2; return y }",
            "1 // a note",
            "/* a note */ 1",
            "a, b",
            "/[)\\]]+/.test(input)",
            "`${input.a}` + ')'",
            "asynchronous + 1",
            "xs.map(async x => x)",
            "throwing()",
        ] {
            assert_eq!(check(source), Ok(()), "{source}");
        }
    }

    #[test]
    fn what_is_not_one_expression_does_not_parse() {
        for source in [
            "",
            "  \n ",
            "a +",
            "a b",
            "a;",
            "let a = 1",
            "return 1",
            "1), (2",
            "1), (() => { while (true) {} })(), (2",
            "1], [2",
            "1)); globalThis.x = 1; ((2",
            "1 /*",
            "1 //\n) + (1",
            "'open",
            "`${",
            "a,",
            "...a",
            "import 'x'",
            "import.meta",
            "await 1",
            "yield 1",
            "/(/",
            "with (a) b",
            "a\0b",
            "010",
        ] {
            let code = check(source).map_err(|error| error.code().as_str());
            assert_eq!(code, Err("EXPR_SYNTAX"), "{source}");
        }
    }

    #[test]
    fn errors_say_where() {
        let check = |source, line, column| match check(source) {
            Err(Error::Syntax {
                line: at_line,
                column: at_column,
                message,
            }) => assert_eq!((at_line, at_column), (line, column), "{source}: {message}"),
            other => panic!("{source}: {other:?}"),
        };
        check("a b", 1, 3);
        check("a +\n  * 2", 2, 3);
    }

    #[test]
    fn async_functions_are_refused() {
        for source in [
            "async () => 1",
            "async x => x",
            " async(x) => x",
            "async function (x) { return x }",
        ] {
            assert_eq!(check(source), Err(Error::Async), "{source}");
        }
    }

    /// Run with `--run-ignored only --no-capture` to see what the worst sources cost.
    #[test]
    #[ignore = "a measurement, not a check"]
    #[allow(clippy::print_stdout)]
    fn measure_the_worst() {
        for size in [2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10] {
            let names = |count: usize| (0..count).map(|n| format!("a{n:x}")).collect::<Vec<_>>();
            let fill = |part: &str| part.repeat(size / part.len());
            let captured = |depth: usize| {
                let names = names((size - 9 * depth) / 12).join(",");
                format!(
                    "()=>{{let {names};return {}[{names}]}}",
                    "()=>".repeat(depth)
                )
            };
            let sources = [
                ("classes", format!("/{}/iu", fill("\\p{L}"))),
                ("sets", format!("/[{}]/iu", fill("\\p{L}"))),
                ("negated", format!("/{}/iu", fill("[^a]"))),
                ("words", format!("/{}/iu", fill("\\W"))),
                ("word sets", format!("/[{}]/iu", fill("\\W\\S"))),
                ("negated words", format!("/{}/iu", fill("[^\\w]"))),
                ("ranges", format!("/[{}]/iu", fill("\u{100}-\u{1ffff}"))),
                ("v sets", format!("/{}/iv", fill("[^a]"))),
                ("quantified", format!("/{}/", fill("(a{1,99999}){1,99999}"))),
                (
                    "groups",
                    format!("/{}{}/", "(".repeat(200), ")".repeat(200)),
                ),
                (
                    "names",
                    format!(
                        "/{}/",
                        (0..size / 9)
                            .map(|n| format!("(?<a{n:x}>)"))
                            .collect::<String>()
                    ),
                ),
                ("params", format!("({})=>1", names(size / 6).join(","))),
                (
                    "lets",
                    format!("()=>{{let {0};return [{0}]}}", names(size / 12).join(",")),
                ),
                ("captured 50", captured(50)),
                ("captured 150", captured(150)),
                (
                    "object",
                    format!(
                        "({{{}}})",
                        names(size / 8)
                            .iter()
                            .map(|n| format!("{n}:1,"))
                            .collect::<String>()
                    ),
                ),
                (
                    "switch",
                    format!("()=>{{switch(a){{{}}}}}", fill("case 1:break;")),
                ),
                ("labels", format!("()=>{{{}}}", fill("for(;;){break}"))),
                ("templates", fill("`${a}`+") + "1"),
                (
                    "closures",
                    format!(
                        "()=>{{let {};return [{}]}}",
                        names(size / 12).join(","),
                        fill("()=>a1,")
                    ),
                ),
                (
                    "private",
                    format!(
                        "class{{{}}}",
                        names(size / 7)
                            .iter()
                            .map(|n| format!("#{n};"))
                            .collect::<String>()
                    ),
                ),
            ];
            for (what, source) in sources {
                let start = std::time::Instant::now();
                let passed = check(&source).is_ok();
                println!("{size} {what}: {:?} {passed}", start.elapsed());
            }
        }
    }

    #[test]
    fn unicode_properties_are_counted() {
        let classes = |count| format!("/{}/iu", "\\p{L}".repeat(count));
        assert_eq!(check(&classes(MAX_UNICODE_PROPERTIES)), Ok(()));
        let code =
            check(&classes(MAX_UNICODE_PROPERTIES + 1)).map_err(|error| error.code().as_str());
        assert_eq!(code, Err("EXPR_SYNTAX"));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        for open in ["(", "[", "{a:", "a=>", "-", "!", "`${", "a?b:", "a.b("] {
            let source = open.repeat(60_000 / open.len());
            assert!(check(&source).is_err(), "{open}");
        }
    }
}
