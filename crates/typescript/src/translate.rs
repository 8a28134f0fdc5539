//! Translates one source text.

use serde::{Deserialize, Serialize};
use swc_common::{FileName, GLOBALS, Globals, SourceMap, sync::Lrc};
use swc_ecma_parser::TsSyntax;
use swc_ts_fast_strip::{ErrorCode, Mode, Options, TransformConfig, TransformOutput, operate};

use crate::{
    diagnostics::{Report, Reports},
    imports::{Finished, finish},
};

/// What a file is loaded as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    Module,
    #[default]
    CommonJs,
}

/// A file of TypeScript.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Its path, for the source map.
    pub file: String,
    pub text: String,
    /// What the ending of its name or its package says. Default: its syntax decides.
    #[serde(default)]
    pub format: Option<Format>,
    /// Imports that nothing uses stay: `verbatimModuleSyntax` of tsconfig.json. Default false.
    #[serde(default)]
    pub keep_imports: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JavaScript {
    pub code: String,
    pub format: Format,
    /// Lines have moved; the source map at the end of the code says where from.
    pub is_mapped: bool,
}

/// Why a file cannot be translated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SyntaxError {
    pub message: String,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
    /// The line, and a mark below the column. Empty for lines that are too long.
    pub shown: String,
}

pub fn translate(source: Source) -> Result<JavaScript, SyntaxError> {
    let Source {
        file,
        text,
        format,
        keep_imports,
    } = source;
    let syntax = TsSyntax {
        decorators: true,
        disallow_ambiguous_jsx_like: !file.ends_with(".ts"),
        ..TsSyntax::default()
    };
    GLOBALS.set(&Globals::new(), || {
        let attempt = Attempt {
            file,
            text,
            syntax,
            keep_imports,
        };
        let (output, is_mapped) = match attempt.strip() {
            Ok(output) => (output, false),
            Err(refused) if refused.can_be_transformed => (attempt.transform(format)?, true),
            Err(refused) => return Err(refused.error),
        };
        let finished = finish(output.code, keep_imports);
        attempt.refuse_decorators(&finished)?;
        let detected = match finished.is_module {
            true => Format::Module,
            false => Format::CommonJs,
        };
        let mut code = finished.code;
        if let Some(map) = output.map {
            let map = data_encoding::BASE64.encode(map.as_bytes());
            code.push_str("\n//# sourceMappingURL=data:application/json;base64,");
            code.push_str(&map);
        }
        Ok(JavaScript {
            code,
            format: format.unwrap_or(detected),
            is_mapped,
        })
    })
}

struct Attempt {
    file: String,
    text: String,
    syntax: TsSyntax,
    keep_imports: bool,
}

struct Refused {
    error: SyntaxError,
    /// It has syntax that is more than types.
    can_be_transformed: bool,
}

impl Attempt {
    fn strip(&self) -> Result<TransformOutput, Refused> {
        self.run(Mode::StripOnly, None)
    }

    /// `import x = require()` is written as what works in the format of the file.
    fn transform(&self, format: Option<Format>) -> Result<TransformOutput, SyntaxError> {
        let run = |assignment: &str| {
            let transform = serde_json::json!({
                "verbatimModuleSyntax": self.keep_imports,
                "nativeClassProperties": true,
                "importExportAssignConfig": assignment,
            });
            let transform = serde_json::from_value(transform).unwrap_or_default();
            let output = self.run(Mode::Transform, Some(transform));
            output.map_err(|refused| refused.error)
        };
        match format {
            Some(Format::Module) => run("NodeNext"),
            Some(Format::CommonJs) => run("Classic"),
            None => {
                let output = run("Classic")?;
                let is_module = finish(output.code.clone(), self.keep_imports).is_module;
                if is_module {
                    run("NodeNext")
                } else {
                    Ok(output)
                }
            }
        }
    }

    fn run(
        &self,
        mode: Mode,
        transform: Option<TransformConfig>,
    ) -> Result<TransformOutput, Refused> {
        let sources = Lrc::<SourceMap>::default();
        let reports = Reports::default();
        let options = Options {
            filename: Some(self.file.clone()),
            parser: self.syntax,
            source_map: matches!(mode, Mode::Transform),
            mode,
            transform,
            ..Options::default()
        };
        let done = operate(&sources, &reports.handler(), self.text.clone(), options);
        let mut reported = reports.take().into_iter();
        match (done, reported.next()) {
            (Ok(output), None) => Ok(output),
            (Ok(_), Some(report)) => Err(Refused {
                error: report.locate(&sources),
                can_be_transformed: false,
            }),
            (Err(error), report) => Err(Refused {
                error: report.map_or_else(
                    || unlocated(&error.message),
                    |report| report.locate(&sources),
                ),
                can_be_transformed: matches!(error.code, ErrorCode::UnsupportedSyntax),
            }),
        }
    }

    /// They have been in JavaScript for years, and are in no version of Node.
    fn refuse_decorators(&self, finished: &Finished) -> Result<(), SyntaxError> {
        let Some(at) = finished.decorator else {
            return Ok(());
        };
        let sources = Lrc::<SourceMap>::default();
        // A transformed text has another position, so the first one is looked for.
        let at = match self
            .text
            .get(at..)
            .is_some_and(|rest| rest.starts_with('@'))
        {
            true => Some(at),
            false => self.text.find('@'),
        };
        let file = sources.new_source_file(FileName::Anon.into(), self.text.clone());
        let position = at.and_then(|at| u32::try_from(at).ok());
        let position = position.map(|at| swc_common::BytePos(file.start_pos.0 + at));
        let message = "decorators are not supported: Node cannot run them".to_owned();
        Err(Report::new(message, position).locate(&sources))
    }
}

fn unlocated(message: &str) -> SyntaxError {
    SyntaxError {
        message: message.to_owned(),
        line: 1,
        column: 1,
        shown: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn js(text: &str) -> JavaScript {
        let source = Source {
            file: "/p/a.ts".to_owned(),
            text: text.to_owned(),
            ..Source::default()
        };
        translate(source).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    fn refused(text: &str) -> SyntaxError {
        let source = Source {
            file: "/p/a.ts".to_owned(),
            text: text.to_owned(),
            ..Source::default()
        };
        translate(source).unwrap_err()
    }

    /// The code without the spaces, which are as wide as what was there.
    fn check(typescript: &str, javascript: &str) {
        let done = js(typescript);
        assert!(!done.is_mapped, "{typescript}");
        let width = |text: &str| text.encode_utf16().count();
        for (before, after) in typescript.split('\n').zip(done.code.split('\n')) {
            assert_eq!(width(before), width(after), "{}", done.code);
        }
        let words: Vec<&str> = done.code.split_whitespace().collect();
        assert_eq!(words.join(" "), javascript);
    }

    #[test]
    fn types_are_blanked_in_place() {
        for (typescript, javascript) in [
            ("const a: number = 1", "const a = 1"),
            (
                "export const f = <T,>(x: T): T => x!",
                "export const f = (x ) => x",
            ),
            ("let é: '😀' = x as any, b = 2", "let é = x , b = 2"),
            ("type A = {\n  b: 1\n}\nfoo()", "; foo()"),
            (
                "class A { private x?: number = 1; declare y: 2 }",
                "class A { x = 1; }",
            ),
        ] {
            check(typescript, javascript);
        }
    }

    #[test]
    fn imports_that_only_types_need_are_left_out() {
        for (typescript, javascript) in [
            (
                "import type { A } from 'a'\nimport { B } from 'b'\nlet b: B",
                "; ; let b",
            ),
            (
                "import { A, b } from 'a'; b<A>()",
                "import { b } from 'a'; b ()",
            ),
            (
                "import { b, A } from 'a'; b<A>()",
                "import { b, } from 'a'; b ()",
            ),
            (
                "import { A /* , */ , b } from 'a'; b",
                "import { b } from 'a'; b",
            ),
            ("import D, { A } from 'a'; D", "import D, { } from 'a'; D"),
            ("import D, { b } from 'a'; b", "import { b } from 'a'; b"),
            ("import D, * as n from 'a'; D", "import D from 'a'; D"),
            ("import { type A } from 'a'; f()", "; f()"),
            ("import 'a'", "import 'a'"),
            (
                "import { a } from 'a'; export { a }",
                "import { a } from 'a'; export { a }",
            ),
            (
                "import { a } from 'a'; const o = { a }",
                "import { a } from 'a'; const o = { a }",
            ),
            (
                "import j from './j.json' with { type: 'json' }; j",
                "import j from './j.json' ; j",
            ),
            (
                "export * from './j.json' with { type: 'json' }",
                "export * from './j.json'",
            ),
        ] {
            check(typescript, javascript);
        }
        let kept = translate(Source {
            text: "import { A } from 'a'".to_owned(),
            keep_imports: true,
            ..Source::default()
        });
        assert_eq!(kept.unwrap().code, "import { A } from 'a'");
    }

    #[test]
    fn syntax_with_a_meaning_is_transformed_with_a_source_map() {
        let done = js(
            "import { T } from 't'\n\nenum Size { Small = 640 }\nexport default (t: T) => Size.Small",
        );
        assert!(done.is_mapped && done.format == Format::Module);
        assert!(!done.code.contains("from 't'"), "{}", done.code);
        assert!(
            done.code
                .contains("sourceMappingURL=data:application/json;base64,")
        );
        for typescript in [
            "namespace A { export const b = 1 }\nexport default A.b",
            "export default class { constructor(private a: number) {} }",
            "export const b = <any>a",
        ] {
            assert!(js(typescript).is_mapped, "{typescript}");
        }
        let commonjs = js("import a = require('a')\na()");
        assert_eq!(commonjs.format, Format::CommonJs);
        assert!(
            commonjs.code.contains("= require('a')"),
            "{}",
            commonjs.code
        );
        let module = js("import a = require('a')\nexport default a");
        assert_eq!(module.format, Format::Module);
        assert!(module.code.contains("createRequire"), "{}", module.code);
    }

    #[test]
    fn the_syntax_decides_the_format() {
        for (typescript, format) in [
            ("export {}", Format::Module),
            ("import 'a'", Format::Module),
            ("const a: string = import.meta.url", Format::Module),
            ("const a: string = await b", Format::Module),
            (
                "const a: string = require('b')\nmodule.exports = a",
                Format::CommonJs,
            ),
            ("function f() { return new.target }", Format::CommonJs),
        ] {
            assert_eq!(js(typescript).format, format, "{typescript}");
        }
    }

    #[test]
    fn errors_name_their_place() {
        let error = refused("const a = 1\n\nexport default (é: ) => 1");
        assert_eq!((error.line, error.column), (3, 20), "{error:?}");
        assert!(error.shown.ends_with("^"), "{error:?}");
        let error = refused("class A {\n  @log() b() {}\n}");
        assert_eq!((error.line, error.column), (2, 3));
        assert!(error.message.contains("decorators"), "{error:?}");
    }
}
