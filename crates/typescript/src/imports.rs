//! Removes imports that only types use, and attributes that some Node versions do not parse.
//!
//! `import { Context } from 'riverrun'` does not show that it names a type. TypeScript removes
//! imports that are not used as values, and so does this module, unless the project sets
//! `verbatimModuleSyntax`.

use std::{collections::HashSet, ops::Range};

use swc_common::{BytePos, FileName, SourceFile, SourceMap, Span, Spanned, sync::Lrc};
use swc_ecma_ast::{
    Decorator, EsVersion, Ident, ImportDecl, ImportSpecifier, MetaPropExpr, MetaPropKind, Module,
    ModuleDecl, ModuleItem, ObjectLit, Str,
};
use swc_ecma_parser::{EsSyntax, Parser, StringInput, Syntax};
use swc_ecma_visit::{Visit, VisitWith};

use crate::edits::Edits;

/// What a text of JavaScript has that matters to loading it.
pub struct Finished {
    pub code: String,
    /// It has the syntax of an ES module.
    pub is_module: bool,
    /// The position of the first decorator, which Node cannot run.
    pub decorator: Option<usize>,
}

/// Leaves out what is not used, and the attribute of JSON modules: the runner's loader knows them by
/// their ending, and Node has changed the syntax of attributes.
pub fn finish(code: String, keep_unused: bool) -> Finished {
    let sources = Lrc::<SourceMap>::default();
    let file = sources.new_source_file(FileName::Anon.into(), code);
    let Some(module) = parse(&file) else {
        // Node says what is wrong with it.
        let code = file.src.to_string();
        return Finished {
            code,
            is_module: false,
            decorator: None,
        };
    };
    let text = Text {
        code: &file.src,
        start: file.start_pos,
    };
    let mut seen = Seen::default();
    module.visit_with(&mut seen);
    let mut edits = Edits::default();
    for declaration in module.body.iter().filter_map(ModuleItem::as_module_decl) {
        match declaration {
            ModuleDecl::Import(import) => text.import(import, keep_unused, &seen, &mut edits),
            ModuleDecl::ExportNamed(export) => {
                text.attributes(export.src.as_deref(), export.with.as_deref(), &mut edits);
            }
            ModuleDecl::ExportAll(export) => {
                text.attributes(Some(&export.src), export.with.as_deref(), &mut edits);
            }
            _ => {}
        }
    }
    let is_module = module.body.iter().any(ModuleItem::is_module_decl)
        || seen.has_import_meta
        || !is_script(&file);
    Finished {
        decorator: seen.decorator.map(|at| text.offset(at)),
        code: edits.apply(file.src.to_string()),
        is_module,
    }
}

fn syntax() -> Syntax {
    Syntax::Es(EsSyntax {
        decorators: true,
        decorators_before_export: true,
        import_attributes: true,
        explicit_resource_management: true,
        ..EsSyntax::default()
    })
}

fn parse(file: &SourceFile) -> Option<Module> {
    let input = StringInput::from(file);
    let mut parser = Parser::new(syntax(), input, None);
    let module = parser.parse_module().ok()?;
    parser.take_errors().is_empty().then_some(module)
}

fn is_script(file: &SourceFile) -> bool {
    let lexer = swc_ecma_parser::lexer::Lexer::new(
        syntax(),
        EsVersion::latest(),
        StringInput::from(file),
        None,
    );
    let mut parser = Parser::new_from(lexer);
    parser.parse_commonjs().is_ok() && parser.take_errors().is_empty()
}

/// Names that are used outside of imports, as far as scopes do not matter: a name that hides an
/// import keeps it.
#[derive(Default)]
struct Seen {
    names: HashSet<String>,
    decorator: Option<BytePos>,
    has_import_meta: bool,
}

impl Visit for Seen {
    fn visit_import_decl(&mut self, _: &ImportDecl) {}

    fn visit_ident(&mut self, name: &Ident) {
        if !self.names.contains(name.sym.as_str()) {
            self.names.insert(name.sym.to_string());
        }
    }

    fn visit_decorator(&mut self, decorator: &Decorator) {
        self.decorator.get_or_insert(decorator.span.lo);
        decorator.visit_children_with(self);
    }

    fn visit_meta_prop_expr(&mut self, meta: &MetaPropExpr) {
        self.has_import_meta |= meta.kind == MetaPropKind::ImportMeta;
    }
}

struct Text<'a> {
    code: &'a str,
    start: BytePos,
}

impl Text<'_> {
    fn offset(&self, position: BytePos) -> usize {
        (position.0 - self.start.0) as usize
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.offset(span.lo)..self.offset(span.hi)
    }

    fn import(&self, import: &ImportDecl, keep_unused: bool, seen: &Seen, edits: &mut Edits) {
        let is_used =
            |specifier: &&ImportSpecifier| seen.names.contains(specifier.local().sym.as_str());
        let unused = || import.specifiers.iter().filter(|one| !is_used(one));
        let has_names = self.offset(import.span.lo)..self.offset(import.src.span.lo);
        let has_names = self.code[has_names].contains(['{', '*']) || !import.specifiers.is_empty();
        if has_names && !keep_unused && unused().count() == import.specifiers.len() {
            return edits.blank_statement(self.range(import.span));
        }
        self.attributes(Some(&import.src), import.with.as_deref(), edits);
        if keep_unused {
            return;
        }
        let mut before = None;
        for specifier in &import.specifiers {
            let range = self.range(specifier.span());
            if !is_used(&specifier) {
                edits.blank(match (specifier, before) {
                    // `import a, * as b`: the comma belongs to what goes.
                    (ImportSpecifier::Namespace(_), Some(end)) => end..range.end,
                    _ => range.start..self.after_comma(range.end),
                });
            }
            before = is_used(&specifier).then_some(range.end);
        }
    }

    /// Blanks `with { type: 'json' }` behind the name of a module.
    fn attributes(&self, source: Option<&Str>, with: Option<&ObjectLit>, edits: &mut Edits) {
        let Some((source, with)) = source.zip(with) else {
            return;
        };
        let is_json = with.as_import_with().is_some_and(|with| {
            with.values.len() == 1
                && with
                    .get("type")
                    .is_some_and(|value| value.value.as_str() == Some("json"))
        });
        if is_json {
            edits.blank(self.offset(source.span.hi)..self.offset(with.span.hi));
        }
    }

    /// The end of the comma that follows, with nothing but space and comments before it; else the
    /// position itself.
    fn after_comma(&self, position: usize) -> usize {
        let mut rest = &self.code[position..];
        loop {
            rest = rest.trim_start();
            let comment_end = if rest.starts_with("//") {
                rest.find(['\n', '\r'])
            } else if rest.starts_with("/*") {
                rest.find("*/").map(|end| end + 2)
            } else if rest.starts_with(',') {
                return self.code.len() - rest.len() + 1;
            } else {
                None
            };
            match comment_end {
                Some(end) => rest = &rest[end..],
                None => return position,
            }
        }
    }
}
