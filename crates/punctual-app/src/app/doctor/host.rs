//! This machine: its clock, its disk, its limits.

use std::path::Path;
use std::process::Command;

use jiff::SignedDuration;
use rustix::process::{Resource, getrlimit};

use super::Check;

/// Where systemd notes that the clock was set by a time server.
const TIMESYNC: &str = "/run/systemd/timesync/synchronized";

/// Fewer open files than this are not enough for a server with programs, and fewer than the second for one at all.
const DESCRIPTORS_GOOD: u64 = 4_096;
const DESCRIPTORS_MIN: u64 = 256;

/// Clocks this far apart are worth a look, and this far apart make ticks late or early.
const OFFSET_GOOD: SignedDuration = SignedDuration::from_millis(100);
const OFFSET_MAX: SignedDuration = SignedDuration::from_secs(1);

const CLOCK: &str = "clock_sync";

/// Whether something keeps the clock right.
pub(super) fn clock_sync() -> Check {
    let hint = "let chrony, systemd-timesyncd or ntpd set the clock: `timedatectl set-ntp true`";
    match asked_timedatectl().or_else(|| Path::new(TIMESYNC).exists().then_some(true)).or_else(asked_chrony) {
        Some(true) => Check::ok(CLOCK, "a time server keeps the clock of this host"),
        Some(false) => Check::fail(CLOCK, "no time server keeps the clock of this host", hint),
        None => Check::warn(CLOCK, "this host does not say whether a time server keeps its clock", hint),
    }
}

/// What the kernel says of its clock, as systemd tells it.
fn asked_timedatectl() -> Option<bool> {
    let said = said("timedatectl", &["show", "--property=NTPSynchronized", "--value"])?;
    match said.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

/// What chrony says: its answer ends with the state of leap seconds, or that it is not synchronised.
fn asked_chrony() -> Option<bool> {
    let said = said("chronyc", &["-c", "tracking"])?;
    said.trim().rsplit(',').next().map(|leap| leap != "Not synchronised")
}

/// What a program prints, if it is there and ends well.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How far the database's clock is from ours.
pub(super) fn clock_offset(offset: SignedDuration) -> Check {
    const NAME: &str = "clock_offset";
    let hint = "let a time server keep the clocks of this host and of the database's";
    let text = format!("the database's clock is {:.1} ms from this host's", offset.as_secs_f64() * 1_000.0);
    match offset.abs() {
        small if small <= OFFSET_GOOD => Check::ok(NAME, text),
        large if large <= OFFSET_MAX => Check::warn(NAME, text, hint),
        _ => Check::fail(NAME, text, hint),
    }
}

/// That the disk is another host's.
pub(super) fn disk_elsewhere() -> Check {
    Check::ok("disk_space", "not looked at: the database is on a disk of its server, to be watched there")
}

/// Whether the disk has room.
pub(super) fn disk(folder: &Path, least: u64) -> Check {
    const NAME: &str = "disk_space";
    let shown = folder.display();
    match rustix::fs::statvfs(folder) {
        Err(error) => Check::warn(
            NAME,
            format!("cannot ask how much of `{shown}` is free: {error}"),
            "check the folder",
        ),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let text = format!("{} MiB are free in `{shown}`", free / (1024 * 1024));
            let hint =
                "make room, or shorten retention; without room nothing can be written, and nothing fires";
            match free {
                free if free < least => Check::fail(NAME, text, hint),
                free if free < least.saturating_mul(4) => Check::warn(NAME, text, hint),
                _ => Check::ok(NAME, text),
            }
        }
    }
}

/// Whether enough files can be open.
pub(super) fn descriptors() -> Check {
    const NAME: &str = "file_descriptors";
    let limit = getrlimit(Resource::Nofile).current;
    let hint = "raise it with `ulimit -n 65536`, or `LimitNOFILE=` of the service";
    match limit {
        None => Check::ok(NAME, "any number of files may be open"),
        Some(limit) => {
            let text = format!("{limit} files may be open at once");
            match limit {
                few if few < DESCRIPTORS_MIN => Check::fail(NAME, text, hint),
                some if some < DESCRIPTORS_GOOD => Check::warn(NAME, text, hint),
                _ => Check::ok(NAME, text),
            }
        }
    }
}

/// The version of the tz database of this host, if it says so.
pub(super) fn host_tz() -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let by_file = read("/usr/share/zoneinfo/+VERSION").map(|text| text.trim().to_owned());
    let by_source = || {
        let text = read("/usr/share/zoneinfo/tzdata.zi")?;
        text.lines().next()?.strip_prefix("# version ").map(|version| version.trim().to_owned())
    };
    by_file.or_else(by_source).filter(|version| version.starts_with("20"))
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn clocks_that_are_apart_are_found() {
        let health = |ms| clock_offset(SignedDuration::from_millis(ms)).health;
        assert_eq!((health(3), health(-300), health(5_000)), (Health::Ok, Health::Warn, Health::Fail));
    }

    #[test]
    fn a_disk_without_room_is_found() {
        let here = Path::new(".");
        assert_eq!((disk(here, u64::MAX).health, disk(here, 0).health), (Health::Fail, Health::Ok));
        assert_eq!(disk(Path::new("no/such/folder"), 0).health, Health::Warn);
    }
}
