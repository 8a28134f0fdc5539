//! Whether an expression over an event may look at the event's id.
//!
//! The id is the event's place in its stream. Passing it before the event is stored requires that
//! no other event comes in between, so only expressions that may read it get it.

/// Derived from the source. When in doubt it may.
pub(super) fn may_name_id(source: &str) -> bool {
    match parts(source) {
        Some((parameter, body)) => looks(parameter, body),
        None => {
            let names = words(source).any(|(word, _)| word == "id");
            names || source.contains("...") || looks("event", source)
        }
    }
}

/// Whether the expression reads the id of a named value, or the value as a whole.
fn looks(name: &str, body: &str) -> bool {
    let mut uses = words(body).filter(|(word, _)| *word == name);
    uses.any(|(_, rest)| member(rest).is_none_or(|member| member == "id"))
}

/// The name of the event and the expression over it. None if that is not obvious, as in a function
/// that destructures the event.
fn parts(source: &str) -> Option<(&str, &str)> {
    let (head, body) = match source.trim_start().starts_with("function") {
        true => source.split_once('(')?.1.split_once(')')?,
        false => source.split_once("=>").unwrap_or(("event", source)),
    };
    let inner = head.trim().trim_start_matches('(').trim_end_matches(')');
    let first = inner.split(',').next().unwrap_or_default().trim();
    let is_name = !first.is_empty() && first.chars().all(is_of_word);
    is_name.then_some((first, body))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// The words of a text, each with the text after it.
fn words(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.find(is_of_word)?;
        let word = &rest[from..];
        let end = word.find(|c| !is_of_word(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        rest = after;
        Some((word, after))
    })
}

/// The member that is read of the preceding value.
fn member(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?;
    let (word, _) = words(rest).next()?;
    rest.trim_start().starts_with(word).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_expressions_that_may_read_the_id_get_it() {
        for (source, expected) in [
            ("(event) => event.data.total > 0", false),
            ("(event) => ({ id: event.data.id })", false),
            ("event => event.data?.id", false),
            ("(e, ctx) => e.data.n === ctx.state.id", false),
            ("event.data.id", false),
            ("({ orderId: event.data.orderId })", false),
            ("ctx.input.id", false),
            ("event.id", true),
            ("(event) => event.id", true),
            ("(e) => e?.id", true),
            ("(e) => e . id", true),
            ("(event) => event", true),
            ("(event) => ({ ...event })", true),
            ("(event) => JSON.stringify(event)", true),
            ("(event) => event['id']", true),
            ("({ id }) => id", true),
            ("({ data }) => data.n", false),
            ("({ data, ...rest }) => rest", true),
            ("function (event) { return event.data }", false),
            ("function (event) { return event.id }", true),
            ("function f(e) { return e }", true),
            ("event.data.list.some(x => x.n > 1)", false),
            ("[1].map(x => event)", true),
        ] {
            assert_eq!(may_name_id(source), expected, "{source}");
        }
    }
}
