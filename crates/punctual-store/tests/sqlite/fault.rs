//! Goal: a disk that is full, a file or folder that may not be written and a file that another process holds are told in
//! clear words, lose nothing, and are forgotten when they end.
//! Method: a real small disk in memory when we are root, the rights of an ordinary person otherwise, and another process
//! with a transaction of its own. Damaged pages are in `file`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use punctual_store::{Access, Cut, Error, ScheduleFilter, Scope, Sqlite, Store};

use crate::bench::{Bench, at};

/// A disk in memory of a chosen size, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// None where mounting is not allowed, as for an ordinary person.
    fn mount(at: &Path) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1500k", "punctual-test"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(at.to_owned()))
    }

    fn grow(&self) {
        let grown = Command::new("mount")
            .args(["-o", "remount,size=64m"])
            .arg(&self.0)
            .status()
            .expect("the ground of the test holds");
        assert!(grown.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // What is left of it goes with the machine's next start at the latest.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

async fn names(store: &Sqlite) -> Vec<String> {
    let listed = store
        .schedules(Scope::Engine, ScheduleFilter::default(), Cut::first(1_000))
        .await
        .expect("the ground of the test holds");
    listed.rows.iter().map(|row| row.definition.name.clone()).collect()
}

#[tokio::test]
#[allow(clippy::print_stderr, reason = "who runs the tests wants to know")]
async fn a_full_disk_refuses_what_has_no_room_and_keeps_what_was_acknowledged() {
    let folder = tempfile::tempdir().expect("the ground of the test holds");
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        // The writer's own tests fill a file with a limit on its pages, which needs no rights.
        eprintln!(
            "no disk can be mounted here: a full one is only tried with a limit on the pages of a file"
        );
        return;
    };
    for access in [Access::Visit, Access::Serve] {
        let place = folder.path().join(format!("{access:?}"));
        std::fs::create_dir(&place).expect("the ground of the test holds");
        let bench = Bench::at(&place, access);
        let mut acknowledged = Vec::new();
        let full = loop {
            let name = format!("schedule {:04}", acknowledged.len());
            match bench.create_as(bench.schedule(&name, "*/2 * * * * *"), at("10:00:00")).await {
                Ok(_) => acknowledged.push(name),
                Err(error) => break error,
            }
            assert!(acknowledged.len() < 5_000, "the disk is small");
        };
        let said = full.to_string();
        assert!(full.is_transient() && (said.contains("full") || said.contains("not answer")), "{said}");
        assert!(full.hint().is_some(), "{said}");
        // Reading goes on, also for somebody who comes now.
        let mut there = names(&bench.store).await;
        let unanswered = matches!(full, Error::Unanswered { .. });
        assert!(there.len() == acknowledged.len() || unanswered, "{} {}", there.len(), acknowledged.len());
        there.truncate(acknowledged.len());
        assert_eq!(there, acknowledged);
        disk.grow();
        bench.create("after", "0 0 * * *", at("10:00:00")).await;
        assert!(names(&bench.store).await.contains(&"after".to_owned()));
        assert_eq!(bench.store.check().await.expect("the ground of the test holds"), []);
        drop(bench);
        std::fs::remove_dir_all(place).expect("the ground of the test holds");
        let shrunk = Command::new("mount")
            .args(["-o", "remount,size=1500k"])
            .arg(folder.path())
            .status()
            .expect("the ground of the test holds");
        assert!(shrunk.success());
    }
}

/// Runs the test of this name once more as nobody: root may write whatever the rights say. Whether that was done.
fn was_run_as_nobody(test: &str) -> bool {
    let id = Command::new("id").arg("-u").output().expect("the ground of the test holds").stdout;
    if String::from_utf8_lossy(&id).trim() != "0" {
        return false;
    }
    let folder = tempfile::tempdir().expect("the ground of the test holds");
    let program = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().expect("the ground of the test holds"), &program)
        .expect("the ground of the test holds");
    let opened = Command::new("chown")
        .args(["-R", "65534:65534"])
        .arg(folder.path())
        .status()
        .expect("the ground of the test holds");
    assert!(opened.success());
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let mut again = Command::new("setpriv");
    again.args(nobody).arg(&program).args(["--exact", test]).env("TMPDIR", folder.path());
    let output = again.current_dir(folder.path()).output().expect("the ground of the test holds");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    true
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .expect("the ground of the test holds");
}

#[test]
fn a_file_that_may_only_be_read_is_refused_and_served_again_later() {
    if was_run_as_nobody("fault::a_file_that_may_only_be_read_is_refused_and_served_again_later") {
        return;
    }
    check_refused(ToOwned::to_owned, 0o400, 0o600);
}

#[test]
fn a_folder_that_may_only_be_read_is_refused_and_served_again_later() {
    if was_run_as_nobody("fault::a_folder_that_may_only_be_read_is_refused_and_served_again_later") {
        return;
    }
    check_refused(|path| path.parent().expect("the ground of the test holds").to_owned(), 0o500, 0o700);
}

/// A ledger whose file or folder may not be written: refused in clear words, unharmed, served when that ends.
fn check_refused(what: impl Fn(&Path) -> PathBuf, closed: u32, open: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the ground of the test holds");
    let bench = Bench::with(Access::Serve);
    runtime.block_on(bench.create("one", "0 0 * * *", at("10:00:00")));
    let path = bench.store.path().to_owned();
    let folder = bench.closed();
    set_mode(&what(&path), closed);
    for access in [Access::Serve, Access::Visit] {
        let refused = Sqlite::open(&path, access).map(|_| ()).expect_err("it may only be read");
        let said = refused.to_string();
        assert!(matches!(refused, Error::Open { .. }), "{access:?}: {said}");
        assert!(said.starts_with("cannot open `") && said.contains("ledger.db"), "{access:?}: {said}");
        assert!(
            refused.hint().expect("the ground of the test holds").contains("permissions"),
            "{access:?}: {said}"
        );
    }
    set_mode(&what(&path), open);
    let store = Sqlite::open(&path, Access::Serve).expect("it may be written again");
    assert_eq!(runtime.block_on(names(&store)), ["one"]);
    drop((store, folder));
}

#[tokio::test]
async fn a_file_that_another_process_holds_is_written_as_soon_as_it_is_free() {
    let bench = Bench::with(Access::Serve);
    bench.create("one", "0 0 * * *", at("10:00:00")).await;
    let hold = "import sqlite3, sys\n\
                db = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                db.execute('BEGIN IMMEDIATE')\n\
                print('held', flush=True)\n\
                sys.stdin.readline()\n\
                db.execute('ROLLBACK')\n";
    let mut other = Command::new("python3");
    let mut other = other
        .args(["-c", hold])
        .arg(bench.store.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the ground of the test holds");
    let mut said = String::new();
    BufReader::new(other.stdout.take().expect("the ground of the test holds"))
        .read_line(&mut said)
        .expect("the ground of the test holds");
    assert_eq!(said, "held\n");
    // Reading does not wait for the other process, writing does.
    let writing = bench.create("two", "0 0 * * *", at("10:00:00"));
    let free = async {
        assert_eq!(names(&bench.store).await, ["one"]);
        other
            .stdin
            .take()
            .expect("the ground of the test holds")
            .write_all(b"\n")
            .expect("the ground of the test holds");
        assert!(other.wait().expect("the ground of the test holds").success());
    };
    tokio::join!(writing, free);
    assert_eq!(names(&bench.store).await, ["one", "two"]);
}
