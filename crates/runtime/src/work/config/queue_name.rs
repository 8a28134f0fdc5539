//! What queues may be called.

/// A queue's name: letters, digits, `-`, `_`, `.` and `/`, at most 128 of them.
pub fn check_queue_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let known = (1..=128).contains(&name.len()) && name.chars().all(fits);
    match known && !name.starts_with('/') && !name.ends_with('/') {
        true => Ok(()),
        false => Err(format!(
            "{:?} is no name of a queue: 1 to 128 letters, digits, '-', '_', '.' and '/' inside",
            name.chars().take(64).collect::<String>()
        )),
    }
}
