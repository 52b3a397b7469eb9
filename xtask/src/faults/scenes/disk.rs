//! The disk under a SQLite file is full for a while, and later may only be read: a real small disk, which root can mount.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::Database;
use super::super::node::{Kit, Node};
use super::super::serve::SERVE;
use super::stage::{Seen, Stage};
use crate::failure::Failure;

/// How large the disk is.
const SIZE: &str = "size=48m";

/// How often it is full, and for how long.
const FULL: u32 = 4;
const FULL_FOR: Duration = Duration::from_secs(3);

/// How long the program works after each.
const AFTER: Duration = Duration::from_secs(3);

/// How long the program may take to refuse a file that it may not write.
const REFUSED_MAX: Duration = Duration::from_secs(10);

/// A disk in memory, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: PathBuf) -> Result<Self, Failure> {
        std::fs::create_dir(&at).map_err(|error| Failure::new(error.to_string(), "is there room?"))?;
        mount(&["-t", "tmpfs", "-o", SIZE, "punctual-faults"], &at)?;
        Ok(Self(at))
    }

    /// Takes all that is left of it.
    fn fill(&self) -> Result<(), Failure> {
        let ballast = std::fs::File::create(self.0.join("ballast"));
        let mut ballast = ballast.map_err(|error| Failure::new(error.to_string(), "is it mounted?"))?;
        let piece = vec![1; 64 * 1024];
        // It ends when nothing more goes in, not even a part.
        while ballast.write_all(&piece).is_ok() {}
        while ballast.write(&piece[..512]).is_ok_and(|written| written > 0) {}
        Ok(())
    }

    fn empty(&self) -> Result<(), Failure> {
        let removed = std::fs::remove_file(self.0.join("ballast"));
        removed.map_err(|error| Failure::new(error.to_string(), "is it mounted?"))
    }

    fn allow(&self, what: &str) -> Result<(), Failure> {
        mount(&["-o", &format!("remount,{what}")], &self.0)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What is left of it goes with the machine's next start at the latest.
        let _ = Command::new("umount").arg("-l").arg(&self.0).stderr(Stdio::null()).status();
    }
}

fn mount(words: &[&str], at: &Path) -> Result<(), Failure> {
    let mounted = Command::new("mount").args(words).arg(at).status();
    match mounted.is_ok_and(|status| status.success()) {
        true => Ok(()),
        false => Err(Failure::new(format!("`mount {}` failed", words.join(" ")), "this scene needs root")),
    }
}

/// Plays it.
pub(super) fn play(program: &Path, folder: &Path) -> Result<Vec<Seen>, Failure> {
    let disk = SmallDisk::mount(folder.join("disk"))?;
    let database = disk.0.join("ledger.db").display().to_string();
    let kit = Kit::new(program.to_owned(), folder, database);
    let mut stage = Stage::begin(&kit, Database::Sqlite)?;
    for full in 1..=FULL {
        disk.fill()?;
        std::thread::sleep(FULL_FOR);
        disk.empty()?;
        std::thread::sleep(AFTER);
        stage.audit(&format!("after the disk was full {full} times"))?;
    }
    let errors = stage.node()?.metric("punctual_store_errors_total")?;
    // One that is killed while the disk is full finds its room when it is back.
    disk.fill()?;
    std::thread::sleep(FULL_FOR);
    stage.node.take().map_or(Ok(()), Node::kill)?;
    stage.load.dismiss()?;
    let refused = read_only(&disk, &stage.load.kit)?;
    disk.empty()?;
    let worker = stage.load.kit.clone();
    stage.load.employ(&worker)?;
    stage.replace(&worker)?;
    std::thread::sleep(AFTER);
    stage.audit("after the disk could only be read")?;
    let done = format!("full {} times, {errors} calls failed; {refused}", FULL + 1);
    Ok(vec![stage.end(done)?])
}

/// A file that may only be read is refused, in words.
fn read_only(disk: &SmallDisk, kit: &Kit) -> Result<String, Failure> {
    disk.allow("ro")?;
    let mut node = Node::spawn(kit, "refused", &SERVE)?;
    let ended = node.ends_within(REFUSED_MAX)?;
    disk.allow("rw")?;
    let said = kit.log("refused");
    match ended {
        Some(status) if !status.success() && said.contains("error: ") && said.contains("hint: ") => {
            Ok("refused when it could only be read".to_owned())
        }
        other => {
            Err(Failure::new(format!("on a disk that may only be read: {other:?}, {said}"), "it must refuse"))
        }
    }
}
