//! Suggestions for misspelled words.

/// How similar a known word must be to count as the intended one.
const LIKENESS: f64 = 0.8;

/// `; did you mean concurrency?`, or nothing if no known word is near.
pub fn meant<T: AsRef<str>>(word: &str, known: &[T]) -> String {
    let likeness = |known: &T| strsim::jaro_winkler(known.as_ref(), word);
    let nearest = known
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|nearest| likeness(nearest) >= LIKENESS);
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean {}?", nearest.as_ref())
    })
}
