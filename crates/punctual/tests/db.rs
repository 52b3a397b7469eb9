//! Goal: the database can be looked after from the command line, and what was altered behind its back is found.
//! Method: the real program on a real file; another program alters rows as somebody with a tool would.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn punctual(folder: &Path, line: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_punctual"));
    command.current_dir(folder).args(line).env_remove("DATABASE_URL").output().expect("the program starts")
}

fn json(folder: &Path, line: &[&str]) -> Value {
    let output = punctual(folder, line);
    assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// A database with one schedule that ticks every second.
fn stage() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let create =
        ["--database", "a.db", "schedule", "create", "--name", "one", "--cron", "* * * * * *", "--", "true"];
    json(folder.path(), &create);
    folder
}

/// Runs a statement as somebody with a tool of their own.
fn alter(folder: &Path, statement: &str) {
    let script =
        "import sqlite3, sys; db = sqlite3.connect('a.db'); db.executescript(sys.argv[1]); db.commit()";
    let status = Command::new("python3").current_dir(folder).args(["-c", script, statement]).status();
    assert!(status.expect("python3 is there").success(), "{statement}");
}

fn findings(folder: &Path) -> Vec<String> {
    let output = punctual(folder, &["--database", "a.db", "db", "check"]);
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: Vec<String> =
        said["findings"].as_array().expect("a list").iter().map(ToString::to_string).collect();
    assert_eq!(output.status.code(), Some(i32::from(!found.is_empty())), "{found:?}");
    found
}

#[test]
fn a_database_that_nobody_altered_is_clean_and_says_what_it_holds() {
    let folder = stage();
    assert_eq!(findings(folder.path()), Vec::<String>::new());
    let status = json(folder.path(), &["--database", "a.db", "db", "status"]);
    assert_eq!((&status["rows"]["schedules"], &status["schema"]), (&Value::from(1), &Value::from(3)));
}

#[test]
fn an_altered_run_or_cursor_is_found() {
    for statement in [
        "DELETE FROM runs WHERE key = (SELECT min(key) + 3 FROM runs)",
        "UPDATE runs SET scheduled_for = scheduled_for + 100000 WHERE key = (SELECT max(key) FROM runs)",
        "UPDATE schedule_state SET planned_through = planned_through + 10000000",
        "UPDATE runs SET status = 'success' WHERE key = (SELECT max(key) FROM runs)",
    ] {
        let folder = stage();
        alter(folder.path(), statement);
        assert!(!findings(folder.path()).is_empty(), "{statement}");
    }
}

#[test]
fn a_copy_and_a_backup_read_back_as_they_were() {
    let folder = stage();
    let copied = json(folder.path(), &["db", "copy", "a.db", "b.db"]);
    assert!(copied["copied"].as_u64() > Some(60), "{copied}");
    json(folder.path(), &["--database", "a.db", "db", "backup", "c.db"]);
    let list = |file: &str| json(folder.path(), &["--database", file, "schedule", "list"]);
    assert_eq!(list("a.db"), list("b.db"));
    assert_eq!(list("a.db"), list("c.db"));
    let again = punctual(folder.path(), &["db", "copy", "a.db", "b.db"]);
    assert_eq!(again.status.code(), Some(5), "a database with schedules is not written over");
    let onto_itself = punctual(folder.path(), &["db", "copy", "a.db", "a.db"]);
    assert_eq!(onto_itself.status.code(), Some(4));
}
