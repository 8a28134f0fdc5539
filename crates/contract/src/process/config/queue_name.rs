//! The rules for names of queues.

use riverrun_types::{RunId, id::has_dot_segment};

/// Checks the name of a queue that is read: letters, digits, `-`, `_`, `.` and `/`, at most 128 of
/// them.
pub fn check_queue_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let known = (1..=128).contains(&name.len()) && name.chars().all(fits);
    match known && !name.starts_with('/') && !name.ends_with('/') {
        true => Ok(()),
        false => Err(format!(
            "{:?} is not a queue name: 1 to 128 letters, digits, '-', '_', '.' and '/' inside",
            name.chars().take(64).collect::<String>()
        )),
    }
}

/// Checks the name of a queue that jobs are added to, or that a process takes its jobs from: no
/// part of it may be `.` or `..`, which a path would resolve to another queue, and it may not be
/// `latest`, which stands for the newest run or job.
pub fn check_new_queue_name(name: &str) -> Result<(), String> {
    check_queue_name(name)?;
    if has_dot_segment(name) {
        return Err(format!(
            "{name:?} is not a queue name: it would mean another place in a path"
        ));
    }
    match name {
        RunId::LATEST => Err(format!(
            "{name:?} is not a queue name: the word is reserved for the newest run or job"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_not_latest_and_no_part_of_it_is_another_place_in_a_path() {
        for name in [".", "..", "a/..", "../a", "a/./b", "latest"] {
            assert!(check_new_queue_name(name).is_err(), "{name:?}");
            assert!(check_queue_name(name).is_ok(), "{name:?} can still be read");
        }
        for name in ["a", "a/b", "a.b", "...", ".a/b..", "latest/a", "Latest"] {
            assert!(check_new_queue_name(name).is_ok(), "{name:?}");
        }
    }
}
