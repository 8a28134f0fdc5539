//! Measures the memory of a process.

/// Resident bytes; `None` where the system does not say.
pub(crate) fn rss_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// Resident bytes of all processes of a group. What they share is counted for each of them. Looks
/// through all processes of the system, so not for every moment.
pub(crate) fn group_rss_bytes(group: i32) -> u64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pid = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = processes.filter_map(pid);
    let of_group = pids.filter(|pid| group_of(*pid) == Some(group));
    of_group.filter_map(rss_bytes).sum()
}

/// The fifth word of what the system says of a process; the second is its name in brackets, in which
/// anything may stand.
fn group_of(pid: u32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(2)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_holds_some_memory() {
        assert!(rss_bytes(std::process::id()).unwrap() > 100 << 10);
        assert_eq!(rss_bytes(u32::MAX), None);
        let own = group_of(std::process::id()).unwrap();
        assert!(group_rss_bytes(own) >= rss_bytes(std::process::id()).unwrap() / 2);
        assert_eq!(group_rss_bytes(i32::MAX), 0);
    }
}
