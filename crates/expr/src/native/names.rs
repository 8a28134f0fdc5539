//! Names that mean more than "look it up in the document".

/// Words that cannot name a variable in strict mode, and the three globals that cannot change.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// What a bare name finds if the caller binds nothing under it.
pub(super) fn is_global(name: &str) -> bool {
    GLOBALS.contains(&name)
}

/// Properties that every JSON value has without the document saying so.
pub(super) fn is_inherited_by_all(name: &str) -> bool {
    INHERITED_BY_ALL.contains(&name)
}

/// Properties that arrays, strings, numbers or booleans have, but no plain object.
pub(super) fn is_inherited_by_some(name: &str) -> bool {
    INHERITED_BY_SOME.contains(&name)
}

#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "Infinity", "NaN", "arguments", "async", "await", "break", "case", "catch", "class", "const",
    "continue", "debugger", "default", "delete", "do", "else", "enum", "eval", "export",
    "extends", "false", "finally", "for", "function", "if", "implements", "import", "in",
    "instanceof", "interface", "let", "new", "null", "of", "package", "private", "protected",
    "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
    "undefined", "var", "void", "while", "with", "yield",
];

#[rustfmt::skip]
const GLOBALS: &[&str] = &[
    "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "BigInt", "BigInt64Array",
    "BigUint64Array", "Boolean", "DataView", "Date", "DisposableStack", "Error", "EvalError",
    "Float16Array", "Float32Array", "Float64Array", "Function", "Infinity", "Int16Array",
    "Int32Array", "Int8Array", "InternalError", "Iterator", "JSON", "Map", "Math", "NaN",
    "Number", "Object", "Promise", "Proxy", "RangeError", "ReferenceError", "Reflect", "RegExp",
    "Set", "String", "SuppressedError", "Symbol", "SyntaxError", "TypeError", "URIError",
    "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakSet",
    "decodeURI", "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval",
    "globalThis", "isFinite", "isNaN", "parseFloat", "parseInt", "undefined", "unescape",
];

/// From `Object.prototype`.
#[rustfmt::skip]
const INHERITED_BY_ALL: &[&str] = &[
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString",
    "toString", "valueOf",
];

/// From the prototypes of arrays, strings, numbers and booleans.
#[rustfmt::skip]
const INHERITED_BY_SOME: &[&str] = &[
    "anchor", "at", "big", "blink", "bold", "charAt", "charCodeAt", "codePointAt", "concat",
    "copyWithin", "endsWith", "entries", "every", "fill", "filter", "find", "findIndex",
    "findLast", "findLastIndex", "fixed", "flat", "flatMap", "fontcolor", "fontsize", "forEach",
    "includes", "indexOf", "isWellFormed", "italics", "join", "keys", "lastIndexOf", "length",
    "link", "localeCompare", "map", "match", "matchAll", "normalize", "padEnd", "padStart",
    "pop", "push", "reduce", "reduceRight", "repeat", "replace", "replaceAll", "reverse",
    "search", "shift", "slice", "small", "some", "sort", "splice", "split", "startsWith",
    "strike", "sub", "substr", "substring", "sup", "toExponential", "toFixed",
    "toLocaleLowerCase", "toLocaleUpperCase", "toLowerCase", "toPrecision", "toReversed",
    "toSorted", "toSpliced", "toUpperCase", "toWellFormed", "trim", "trimEnd", "trimLeft",
    "trimRight", "trimStart", "unshift", "values", "with",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Limits, Sandbox};

    fn check_covers(list: &[&str], source: &str) {
        let sandbox = Sandbox::new(Limits::default()).unwrap();
        let expr = Expr::compile(source).unwrap();
        let json = sandbox.eval_blocking(&expr, &[]).unwrap().unwrap();
        let names: Vec<String> = serde_json::from_str(json.get()).unwrap();
        assert!(!names.is_empty());
        let missing = names.iter().filter(|name| !list.contains(&name.as_str()));
        let missing: Vec<_> = missing.collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn every_global_is_known() {
        check_covers(GLOBALS, "Object.getOwnPropertyNames(globalThis)");
    }

    #[test]
    fn every_inherited_property_is_known() {
        check_covers(
            INHERITED_BY_ALL,
            "Object.getOwnPropertyNames(Object.prototype)",
        );
        let known = [INHERITED_BY_ALL, INHERITED_BY_SOME].concat();
        check_covers(
            &known,
            "[Array, String, Number, Boolean]
                .flatMap(type => Object.getOwnPropertyNames(type.prototype))",
        );
    }
}
