//! Named transforms that nearly every flow needs. They work on the JSON text, so unlike expressions
//! they do not round numbers.

use std::collections::HashSet;

use riverrun_types::Json;
use serde_json::value::RawValue;

type Apply = fn(&Json) -> Result<Json, String>;

/// Name, function, what it does.
pub(super) const PRESETS: &[(&str, Apply, &str)] = &[
    ("upper", upper, "the text in upper case"),
    ("lower", lower, "the text in lower case"),
    ("trim", trim, "the text without white space around it"),
    (
        "json.parse",
        parse,
        "the value that the text spells as JSON",
    ),
    ("json.stringify", stringify, "the value as JSON text"),
    (
        "string",
        string,
        "a string as it is, else the value as JSON text",
    ),
    (
        "number",
        number,
        "the number that the text spells; a number as it is, true 1, false 0",
    ),
    (
        "boolean",
        boolean,
        "false for null, false, 0, \"\", \"0\", \"no\", \"off\" and \"false\", else true",
    ),
    ("length", length, "how many items, keys or characters"),
    ("keys", keys, "the keys of an object"),
    ("values", values, "the values of an object"),
    ("first", first, "the first item of a list, or null"),
    ("last", last, "the last item of a list, or null"),
    (
        "flatten",
        flatten,
        "a list with the items of the lists in it, one level",
    ),
    ("unique", unique, "a list without repeated items"),
    ("sum", sum, "the sum of a list of numbers"),
];

#[derive(Clone, Copy)]
pub(super) struct Preset(&'static (&'static str, Apply, &'static str));

impl Preset {
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.0 == name).map(Self)
    }

    pub fn name(&self) -> &'static str {
        self.0.0
    }

    pub fn apply(&self, input: &Json) -> Result<Json, String> {
        (self.0.1)(input).map_err(|wanted| {
            format!(
                "{} needs {wanted}; the input is {}",
                self.name(),
                kind(input)
            )
        })
    }
}

fn kind(json: &Json) -> &'static str {
    kind_of(json.as_str())
}

fn kind_of(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// The text of a string, a number or a boolean.
fn text(input: &Json) -> Result<std::borrow::Cow<'_, str>, String> {
    if input.is_object() || input.is_array() || input.is_null() {
        return Err("a text".to_owned());
    }
    Ok(input.as_text())
}

/// The items where they stand: a copy of each would take many times the bytes of the list.
fn list(input: &Json) -> Result<Vec<&RawValue>, String> {
    input.raw_items().ok_or_else(|| "a list".to_owned())
}

fn object(input: &Json) -> Result<Vec<(String, Json)>, String> {
    input.members().ok_or_else(|| "an object".to_owned())
}

fn upper(input: &Json) -> Result<Json, String> {
    Ok(Json::from(text(input)?.to_uppercase().as_str()))
}

fn lower(input: &Json) -> Result<Json, String> {
    Ok(Json::from(text(input)?.to_lowercase().as_str()))
}

fn trim(input: &Json) -> Result<Json, String> {
    Ok(Json::from(text(input)?.trim()))
}

fn parse(input: &Json) -> Result<Json, String> {
    let text = text(input)?.trim().to_owned();
    Json::parse_text(text).map_err(|error| format!("JSON text ({error})"))
}

fn stringify(input: &Json) -> Result<Json, String> {
    Ok(Json::from(&*input.compact()))
}

fn string(input: &Json) -> Result<Json, String> {
    if input.as_str().starts_with('"') {
        return Ok(input.clone());
    }
    stringify(input)
}

fn number(input: &Json) -> Result<Json, String> {
    let wanted = || "a number or a text that spells one".to_owned();
    match kind(input) {
        "a number" => Ok(input.clone()),
        "a boolean" => Ok(Json::of(&u8::from(input.as_str() == "true"))),
        "a string" => {
            let text = input.as_text().trim().to_owned();
            let plain = Json::parse_text(text.clone()).ok();
            if let Some(plain) = plain.filter(|json| kind(json) == "a number") {
                return Ok(plain);
            }
            // Forms that JSON has not: `+1`, `.5`, `007`.
            let float: f64 = text.parse().map_err(|_| wanted())?;
            float
                .is_finite()
                .then(|| Json::of(&float))
                .ok_or_else(wanted)
        }
        _ => Err(wanted()),
    }
}

fn boolean(input: &Json) -> Result<Json, String> {
    let truth = match kind(input) {
        "null" => false,
        "a boolean" => input.as_str() == "true",
        "a number" => input.as_str().parse::<f64>() != Ok(0.0),
        "a string" => {
            let text = input.as_text().trim().to_lowercase();
            !["", "0", "no", "off", "false"].contains(&text.as_str())
        }
        _ => true,
    };
    Ok(Json::of(&truth))
}

fn length(input: &Json) -> Result<Json, String> {
    let length = match kind(input) {
        "a list" => input.count_items().unwrap_or_default(),
        "an object" => object(input)?.len(),
        "a string" => input.as_text().chars().count(),
        _ => return Err("a list, an object or a string".to_owned()),
    };
    Ok(Json::of(&length))
}

fn keys(input: &Json) -> Result<Json, String> {
    let members = object(input)?.into_iter();
    Ok(Json::of(&members.map(|(key, _)| key).collect::<Vec<_>>()))
}

fn values(input: &Json) -> Result<Json, String> {
    let members = object(input)?.into_iter();
    Ok(Json::of(
        &members.map(|(_, value)| value).collect::<Vec<_>>(),
    ))
}

fn first(input: &Json) -> Result<Json, String> {
    Ok(list(input)?
        .first()
        .map_or_else(Json::null, |item| Json::part(item)))
}

fn last(input: &Json) -> Result<Json, String> {
    Ok(list(input)?
        .last()
        .map_or_else(Json::null, |item| Json::part(item)))
}

fn flatten(input: &Json) -> Result<Json, String> {
    let mut flat: Vec<&RawValue> = Vec::new();
    for item in list(input)? {
        match inner(item) {
            Some(inner) => flat.extend(inner),
            None => flat.push(item),
        }
    }
    Ok(Json::of(&flat))
}

/// The items of a list in a list.
fn inner(item: &RawValue) -> Option<Vec<&RawValue>> {
    let is_list = item.get().starts_with('[');
    is_list.then(|| serde_json::from_str(item.get()).ok())?
}

fn unique(input: &Json) -> Result<Json, String> {
    let mut seen = HashSet::new();
    let mut items = list(input)?;
    items.retain(|item| seen.insert(canonical(&Json::part(item), 0)));
    Ok(Json::of(&items))
}

fn sum(input: &Json) -> Result<Json, String> {
    let items = list(input)?;
    if items.iter().any(|item| kind_of(item.get()) != "a number") {
        return Err("a list of numbers".to_owned());
    }
    let mut integers = items.iter().map(|item| item.get().parse::<i128>().ok());
    let exact = integers.try_fold(0_i128, |total, item| total.checked_add(item?));
    let total = match exact {
        Some(total) => total.to_string(),
        None => {
            let floats = items
                .iter()
                .map(|item| item.get().parse::<f64>().unwrap_or(f64::NAN));
            return match serde_json::Number::from_f64(floats.sum()) {
                Some(total) => Ok(Json::of(&total)),
                None => Err("numbers whose sum is one".to_owned()),
            };
        }
    };
    Json::parse_text(total).map_err(|error| error.to_string())
}

/// The same text for equal values: sorted keys, and numbers that are integers as integers. What
/// lies deeper than this is compared as it is written: text can nest deeper than a stack.
fn canonical(json: &Json, depth: usize) -> String {
    const MAX_DEPTH: usize = 64;
    if depth == MAX_DEPTH {
        return json.compact().into_owned();
    }
    if let Some(items) = json.items() {
        let items: Vec<_> = items
            .iter()
            .map(|item| canonical(item, depth + 1))
            .collect();
        return format!("[{}]", items.join(","));
    }
    if let Some(mut members) = json.members() {
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        let members = members.iter().map(|(key, value)| {
            let key = Json::from(key.as_str());
            format!("{}:{}", key.as_str(), canonical(value, depth + 1))
        });
        return format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    }
    if kind(json) != "a number" {
        // Escapes in a string can be spelled in several ways.
        return json.value().to_string();
    }
    canonical_number(json.as_str())
}

fn canonical_number(text: &str) -> String {
    if let Ok(integer) = text.parse::<i128>() {
        return integer.to_string();
    }
    match text.parse::<f64>() {
        Ok(float) if float.fract() == 0.0 && float.abs() < 1e30 => (float as i128).to_string(),
        Ok(float) if float.is_finite() => float.to_string(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(name: &str, input: &str, expected: Option<&str>) {
        let input = Json::parse_text(input.to_owned()).unwrap();
        let output = Preset::named(name).unwrap().apply(&input);
        let output = output.as_ref().map(Json::as_str).ok();
        assert_eq!(output, expected, "{name} {input:?}");
    }

    #[test]
    fn texts() {
        check("upper", r#""aé""#, Some(r#""AÉ""#));
        check("lower", r#""AÉ""#, Some(r#""aé""#));
        check("trim", r#"" a b\n""#, Some(r#""a b""#));
        check("upper", "true", Some(r#""TRUE""#));
        check("upper", "null", None);
        check("upper", "[1]", None);
    }

    #[test]
    fn conversions_keep_digits() {
        check(
            "json.parse",
            r#""{\"id\":12345678901234567890123}""#,
            Some(r#"{"id":12345678901234567890123}"#),
        );
        check("json.parse", r#""nope""#, None);
        check(
            "json.stringify",
            r#"{ "a" : [1.10, "x \" y"] }"#,
            Some(r#""{\"a\":[1.10,\"x \\\" y\"]}""#),
        );
        check("string", r#""x""#, Some(r#""x""#));
        check(
            "string",
            "12345678901234567890123",
            Some(r#""12345678901234567890123""#),
        );
        check(
            "number",
            r#"" 12345678901234567890123 ""#,
            Some("12345678901234567890123"),
        );
        check("number", r#"".5""#, Some("0.5"));
        check("number", "true", Some("1"));
        check("number", r#""""#, None);
        check("number", r#""NaN""#, None);
        check("number", "[1]", None);
        check("boolean", r#"" False""#, Some("false"));
        check("boolean", "0.0", Some("false"));
        check("boolean", "[]", Some("true"));
    }

    #[test]
    fn collections() {
        check("length", r#""äö""#, Some("2"));
        check("length", r#"{"a":1}"#, Some("1"));
        check("length", "5", None);
        check("keys", r#"{"b":1,"a":2}"#, Some(r#"["b","a"]"#));
        check("values", r#"{"b":1.10,"a":[2]}"#, Some("[1.10,[2]]"));
        check("first", "[1,2]", Some("1"));
        check("last", "[1,2]", Some("2"));
        check("last", "[]", Some("null"));
        check("flatten", "[1,[2,[3]],[]]", Some("[1,2,[3]]"));
        check(
            "unique",
            r#"[1,1.0,"1",{"a":1,"b":2},{"b":2,"a":1.0}]"#,
            Some(r#"[1,"1",{"a":1,"b":2}]"#),
        );
        check(
            "unique",
            "[12345678901234567890123,12345678901234567890124]",
            Some("[12345678901234567890123,12345678901234567890124]"),
        );
        let deep = format!("[{}1{}]", "[".repeat(119), "]".repeat(119));
        check("unique", &deep, Some(&deep));
        check("flatten", "[1e308]", Some("[1e308]"));
        check("boolean", "1e308", Some("true"));
        check("sum", "[1e308,1e308]", None);
        check("sum", "[]", Some("0"));
        check("sum", "[9007199254740993,1]", Some("9007199254740994"));
        check("sum", "[1,0.5]", Some("1.5"));
        check("sum", r#"[1,"2"]"#, None);
        check("keys", "[]", None);
    }

    proptest! {
        #[test]
        fn no_preset_panics(at in 0..PRESETS.len(), text in "[\\[\\]{}\",:0-9eE.+a\\\\ -]{0,30}") {
            let preset = Preset(&PRESETS[at]);
            let _ = preset.apply(&Json::from(text.as_str()));
            if let Ok(json) = Json::parse_text(text) {
                let _ = preset.apply(&json);
            }
        }
    }
}
