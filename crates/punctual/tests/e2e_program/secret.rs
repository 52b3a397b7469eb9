//! Goal: a secret is put, listed by name, used by a run and removed, and its value is seen nowhere.
//! Method: the real program; every byte that it prints, logs or keeps on disk is searched for the value.

use std::io::Write;
use std::process::{Output, Stdio};
use std::sync::Arc;

use punctual::Database;
use punctual_plan::{Action, Process, Schedule, ScheduleId, Status, Subject, Window};
use punctual_store::{Access, AnyStore, ScheduleWrite, Scope, Store, Write as Written};
use punctual_time::{Cron, Timing, Zone};

use crate::driver::Person;

const VALUE: &str = "v4lue-of-the-secret";

impl Person {
    /// Runs a command with text on its standard input.
    fn run_with(&self, arguments: &[&str], text: &str) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    }
}

/// Makes a per-second schedule with any action, as a file would.
pub(crate) fn create(person: &Person, name: &str, action: Action) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = Database::Sqlite { path: person.database() };
        let store: AnyStore = database.open(Access::Visit).await.expect("the ledger");
        let now = store.now().await.expect("a clock");
        let timing = Timing::new("* * * * * *".parse::<Cron>().expect("a spec"), Zone::utc());
        let id = ScheduleId(uuid::Uuid::new_v4());
        let definition = Arc::new(Schedule::new(id, name, timing, action));
        let cursor = punctual_plan::Cursor::starting(now);
        let plan =
            Subject::of(&definition, cursor).map(|subject| punctual_plan::plan(&subject, Window::at(now)));
        let write = Written::Create { definition, status: Status::Active, plan, declared_set: None };
        let write = ScheduleWrite { write, kind: "schedule.created", note: String::new(), now };
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let written = store.write_schedules(Scope::org(org), vec![write]).await.expect("a write");
        assert!(written.iter().all(Result::is_ok), "{written:?}");
    });
}

fn assert_hidden(what: &str, bytes: &[u8]) {
    let is_there = bytes.windows(VALUE.len()).any(|window| window == VALUE.as_bytes());
    assert!(!is_there, "{what} holds the value");
}

#[test]
fn a_secret_reaches_the_program_and_nothing_else() {
    let person = Person::new();
    let put = person.run_with(&["secret", "put", "api"], &format!("{VALUE}\n"));
    assert!(put.status.success(), "{}", String::from_utf8_lossy(&put.stderr));
    let said: serde_json::Value = serde_json::from_slice(&put.stdout).expect("JSON");
    assert_eq!((&said["secret"]["name"], &said["secret"]["version"]), (&"api".into(), &1.into()));

    let mut program = Process::new(["sh", "-c", "echo got $KEY; test ${#KEY} = 19"]);
    program.env.insert("KEY".to_owned(), "${secret:api}".to_owned());
    create(&person, "uses", Action::Process(program));
    let mut serving = person.serve();
    let ended = serving.wait_for("\"ended\"");
    assert_hidden("the log", ended.to_string().as_bytes());
    serving.stop();
    let ledger = person.json(&["schedule", "runs", "--name", "uses"]);
    let run = ledger["runs"].as_array().expect("a list").iter().find(|run| run["status"] == "success");
    assert_eq!(run.expect("it succeeded")["output"], "got ***\n");

    assert_hidden("the ledger", ledger.to_string().as_bytes());
    let listed = person.run(&["secret", "list"]);
    assert_hidden("the list", &listed.stdout);
    for file in std::fs::read_dir(person.database().parent().expect("a folder")).expect("the data folder") {
        let path = file.expect("a file").path();
        assert_hidden(&path.display().to_string(), &std::fs::read(&path).expect("readable"));
    }
}

#[test]
fn secrets_are_listed_by_name_and_removed() {
    let person = Person::new();
    let file = person.home().join("value");
    std::fs::write(&file, VALUE).expect("a file");
    let from = file.display().to_string();
    person.json(&["secret", "put", "b", "--from-file", &from]);
    person.json(&["secret", "put", "a", "--from-file", &from]);
    assert_eq!(person.json(&["secret", "put", "a", "--from-file", &from])["secret"]["version"], 2);
    assert_eq!(person.json(&["secret", "put", "c", "--from-file", &from, "--dry-run"])["dry_run"], true);
    let names = |person: &Person| -> Vec<String> {
        let listed = person.json(&["secret", "list"]);
        let rows = listed["secrets"].as_array().expect("a list").clone();
        assert!(rows.iter().all(|row| row.as_object().is_some_and(|row| row.len() == 3)), "{listed}");
        rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&person), ["a", "b"]);
    assert_eq!(person.json(&["secret", "rm", "b", "--dry-run"])["secret"]["name"], "b");
    assert_eq!(person.json(&["secret", "rm", "b"])["removed"], "b");
    assert_eq!(names(&person), ["a"]);
    let refused = person.run(&["secret", "rm", "b"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(
        (refused.status.code(), said.lines().next()),
        (Some(3), Some("error: there is no secret `b`"))
    );
    for (name, text, expected) in [
        ("a b", VALUE, "error: `a b` cannot be the name of a secret"),
        ("a", "\n", "error: the value is empty"),
        ("a", "x\0y", "error: the value holds a NUL, which no variable can hold"),
        ("a", &"x".repeat(70_000), "error: the value is longer than 65536 bytes"),
    ] {
        let refused = person.run_with(&["secret", "put", name], text);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!((refused.status.code(), said.lines().next()), (Some(4), Some(expected)));
    }
}
