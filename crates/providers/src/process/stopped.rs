//! Whether a signal has stopped a process.

/// Whether a process is stopped (SIGSTOP, SIGTSTP) and runs nothing until it is continued; `false`
/// where the system does not say.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The name before the state is in brackets and may contain anything.
    stat.rsplit_once(") ")
        .is_some_and(|(_, after)| after.starts_with('T'))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_is_not_stopped() {
        assert!(!is_stopped(std::process::id()));
        assert!(!is_stopped(u32::MAX));
    }
}
