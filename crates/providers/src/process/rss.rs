//! How much memory a process holds.

/// Resident bytes; `None` where the system does not say.
pub(crate) fn rss_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_holds_some_memory() {
        assert!(rss_bytes(std::process::id()).unwrap() > 100 << 10);
        assert_eq!(rss_bytes(u32::MAX), None);
    }
}
