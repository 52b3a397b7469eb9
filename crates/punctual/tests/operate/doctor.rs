//! Each check of the doctor fails when its cause is there.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use jiff::{SignedDuration, Timestamp};
use punctual::Database;
use punctual_plan::{Action, Dependency, Process, Schedule};
use punctual_store::conformance::stage::{Shape, Stage, cron, node};
use punctual_store::{Access, AnyStore, Scope, Store};
use serde_json::Value;

use crate::driver::Person;

fn judged(output: &Output, name: &str) -> (String, String) {
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let checks = found["checks"].as_array().expect("a list");
    let check =
        checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}: {found}"));
    let is_any_bad = checks.iter().any(|check| check["state"] == "fail");
    assert_eq!(output.status.code(), Some(if is_any_bad { 7 } else { 0 }), "{found}");
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    assert!(text("state") == "ok" || !text("hint").is_empty(), "{check}");
    (text("state"), text("text"))
}

fn check(person: &Person, name: &str, said: &str) {
    let (state, text) = judged(&person.run(&["system", "doctor"]), name);
    assert_eq!(state, "fail", "{name}: {text}");
    assert!(text.contains(said), "{name}: {text}");
}

/// Does something to a person's database, as a node would.
fn alter<T>(person: &Person, work: impl AsyncFnOnce(&mut Stage<AnyStore>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    std::fs::create_dir_all(person.database().parent().expect("a folder")).expect("a folder");
    runtime.block_on(async {
        let database = Database::Sqlite { path: person.database() };
        let store = database.open(Access::Visit).await.expect("it opens");
        let org = store.org(Scope::Engine, "default".to_owned()).await.expect("an org");
        let mut joining = node("one", SignedDuration::from_secs(3_600));
        joining.tz_version = punctual_time::tz_version().to_owned();
        let fence = store.join(joining).await.expect("it joins").fence;
        let mut stage = Stage::on(store, "two").await;
        (stage.org, stage.fence) = (org, fence);
        work(&mut stage).await
    })
}

fn hourly(name: &str) -> Schedule {
    let mut schedule = cron(name, "0 * * * *");
    schedule.owner = punctual_plan::Owner::default();
    schedule
}

#[test]
fn a_sound_installation_passes() {
    let person = Person::new();
    person.json(&["schedule", "create", "--name", "a", "--cron", "@daily", "--", "true"]);
    let serving = person.serve();
    let output = person.run(&["system", "doctor"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let bad = |check: &&Value| check["state"] == "fail" && check["name"] != "clock_sync";
    assert_eq!(found["checks"].as_array().expect("a list").iter().find(bad), None);
    assert_eq!(judged(&output, "server").0, "ok");
    serving.stop();
}

#[test]
fn a_clock_that_nobody_keeps_is_found() {
    let person = Person::new();
    let program = person.home().join("timedatectl");
    std::fs::write(&program, "#!/bin/sh\necho no\n").expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("runnable");
    let path = format!("{}:{}", person.home().display(), std::env::var("PATH").unwrap_or_default());
    let asked = |said: &str| {
        std::fs::write(&program, format!("#!/bin/sh\necho {said}\n")).expect("written");
        let output = person.command(&["system", "doctor"]).env("PATH", &path).output().expect("it starts");
        judged(&output, "clock_sync").0
    };
    assert_eq!((asked("no"), asked("yes")), ("fail".to_owned(), "ok".to_owned()));
}

#[test]
fn a_newer_tz_database_than_ours_is_found() {
    let person = Person::new();
    // The stage's second node brings the rules of 2090.
    alter(&person, async |_| ());
    check(&person, "tz_database", "a node here has had 2090a");
}

#[test]
fn a_full_disk_is_found() {
    let person = Person::new();
    let output = person.run(&["system", "doctor", "--disk-min", "999999999999"]);
    assert_eq!(judged(&output, "disk_space").0, "fail");
}

#[test]
fn too_few_open_files_are_found() {
    let person = Person::new();
    let own = person.command(&["system", "doctor"]);
    let program = own.get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$0\" system doctor"]).arg(program);
    command.env("XDG_DATA_HOME", person.home().join("data")).env_remove("DATABASE_URL");
    let output = command.output().expect("a shell");
    assert_eq!(
        judged(&output, "file_descriptors"),
        ("fail".to_owned(), "100 files may be open at once".to_owned())
    );
}

#[test]
fn a_lease_that_is_over_with_runs_in_flight_is_found() {
    let person = Person::new();
    alter(&person, async |stage| {
        let now = Timestamp::now();
        let dead = stage.store.join(node("dead", SignedDuration::from_hours(1))).await.expect("it joins");
        let key = stage.create(hourly("a"), now).await;
        stage.fence = dead.fence;
        stage.trigger(key, "k", now).await;
        stage.admit(now).await;
    });
    // Nothing is admitted without a lease, so it ends afterwards.
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute(\"UPDATE nodes SET lease_until = 1\"); db.commit()";
    let status = std::process::Command::new("python3").args(["-c", script]).arg(person.database()).status();
    assert!(status.expect("python3 is there").success());
    check(&person, "leases", "1 runs in flight belong to nodes whose lease is over");
}

#[test]
fn what_is_overdue_is_found() {
    let person = Person::new();
    alter(&person, async |stage| {
        let before = Timestamp::now() - SignedDuration::from_hours(3);
        stage.create(hourly("a"), before).await;
    });
    check(&person, "overdue", "1 schedules are not planned up to now");
}

#[test]
fn a_definition_that_cannot_be_read_is_found() {
    let person = Person::new();
    alter(&person, async |stage| stage.create(hourly("a"), Timestamp::now()).await);
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute(\"UPDATE schedule_versions SET definition = replace(definition, 'UTC', 'Mars/Base')\"); \
                  db.commit()";
    let status = std::process::Command::new("python3").args(["-c", script]).arg(person.database()).status();
    assert!(status.expect("python3 is there").success());
    check(&person, "definitions", "`a`: ");
}

#[test]
fn references_that_lead_nowhere_are_found() {
    let person = Person::new();
    alter(&person, async |stage| {
        let now = Timestamp::now();
        let up = hourly("up");
        let down = hourly("down").policy(|policy| {
            policy.depends_on = Some(Dependency { on: vec![up.id], timeout: SignedDuration::from_mins(1) });
        });
        stage.create(up, now).await;
        stage.create(down, now).await;
        let deletion = stage.deletion("up", now).await;
        stage.write(deletion).await;
        let mut process = Process::new(["no-such-program-anywhere"]);
        process.env.insert("KEY".to_owned(), "${secret:api}".to_owned());
        stage.create(hourly("calls").action(Action::Process(process)), now).await;
    });
    check(&person, "dependencies", "`down` on ");
    check(&person, "secrets", "`calls` on `api`");
    check(&person, "programs", "`calls` on `no-such-program-anywhere`");
}
