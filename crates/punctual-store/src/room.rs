//! Room: how much memory the caches of a process that serves may take, by what the machine, or the container, has.
//!
//! All of them grow only as they are needed.

use std::sync::LazyLock;

/// What is taken for granted where nobody tells: as much as a small machine has.
const UNKNOWN: u64 = 2 << 30;

/// The share of the memory that parsed definitions may take, as a divisor, and how many bytes one takes about.
const DEFINITIONS_SHARE: u64 = 8;
const DEFINITION_BYTES: u64 = 1_800;

/// How many definitions are kept: in any case so many that the schedules of one large batch find theirs, and no more than
/// twice those that one process can run each minute.
const DEFINITIONS: (u64, u64) = (50_000, 2_000_000);

/// The share of the memory that the pages of the connection may take that writes, and their bounds, in KiB: those that a
/// million schedules change in a minute.
const PAGES_SHARE: u64 = 16;
const PAGES_KIB: (u64, u64) = (64 << 10, 768 << 10);

/// How many definitions a process keeps that runs them.
pub(crate) fn definitions() -> usize {
    usize::try_from(definitions_in(*MEMORY)).unwrap_or(usize::MAX)
}

/// The page cache of the connection that writes, in KiB.
pub(crate) fn pages_kib() -> i64 {
    i64::try_from(pages_kib_in(*MEMORY)).unwrap_or(i64::MAX)
}

fn definitions_in(memory: u64) -> u64 {
    (memory / DEFINITIONS_SHARE / DEFINITION_BYTES).clamp(DEFINITIONS.0, DEFINITIONS.1)
}

fn pages_kib_in(memory: u64) -> u64 {
    (memory / PAGES_SHARE / 1_024).clamp(PAGES_KIB.0, PAGES_KIB.1)
}

/// The bytes of memory that there are for this process.
static MEMORY: LazyLock<u64> = LazyLock::new(|| {
    let read = |file: &str| std::fs::read_to_string(file).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(machine_memory);
    let container = read("/sys/fs/cgroup/memory.max").as_deref().and_then(container_memory);
    machine.into_iter().chain(container).min().unwrap_or(UNKNOWN)
});

/// What Linux tells of the machine.
fn machine_memory(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// What it tells of the container; nothing if that has no limit of its own.
fn container_memory(told: &str) -> Option<u64> {
    told.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        assert_eq!(machine_memory("MemTotal:       24690332 kB\nMemFree: 1 kB\n"), Some(24_690_332 * 1_024));
        assert_eq!((machine_memory("MemFree: 1 kB\n"), machine_memory("MemTotal: much\n")), (None, None));
        assert_eq!((container_memory("536870912\n"), container_memory("max\n")), (Some(512 << 20), None));
    }

    #[test]
    fn caches_take_a_share_of_the_memory_within_their_bounds() {
        let small_and_large =
            [512 << 20, 4 << 30, 1 << 40].map(|memory| (definitions_in(memory), pages_kib_in(memory)));
        assert_eq!(small_and_large, [(50_000, 65_536), (298_261, 262_144), (2_000_000, 786_432)]);
    }
}
