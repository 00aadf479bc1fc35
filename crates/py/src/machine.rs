//! What the machine has: the edge of the program, on which no result depends.

use std::fs::read_to_string;

/// The bytes that this process may have in memory, where the system says: the machine's, or less in
/// a
/// container or under `ulimit -v`.
pub(crate) fn memory() -> Option<u64> {
    let of_machine = read_to_string("/proc/meminfo").ok().and_then(|text| kilobytes(&text)).map(|kb| kb * 1024);
    let of_group = read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    let of_process = read_to_string("/proc/self/limits").ok().and_then(|text| address_space(&text));
    [of_machine, of_group, of_process].into_iter().flatten().min()
}

/// `MemTotal:       24031234 kB`, of proc_meminfo(5).
fn kilobytes(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// `Max address space         unlimited            unlimited            bytes`, of
/// proc_pid_limits(5).
fn address_space(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_what_the_system_says_counts() {
        assert_eq!(kilobytes("MemTotal:       24031234 kB\nMemFree: 1 kB"), Some(24_031_234));
        assert_eq!(
            address_space("Max address space         300000000            unlimited            bytes"),
            Some(300_000_000)
        );
        assert_eq!(address_space("Max address space         unlimited            unlimited            bytes"), None);
    }
}
