//! Each check of the doctor fails when its cause is there, on either database.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use punctual_plan::{Action, Dependency, Process, Schedule};
use punctual_store::Store;
use punctual_store::conformance::stage::{Shape, cron, node};
use serde_json::Value;

use crate::patient::{Patient, server, tell};

/// Held while a setting of the whole server is another one.
static SERVER: Mutex<()> = Mutex::new(());

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

fn check(patient: &Patient, name: &str, said: &str) {
    let (state, text) = judged(&patient.run(&["system", "doctor"]), name);
    assert_eq!(state, "fail", "{name}: {text}");
    assert!(text.contains(said), "{name}: {text}");
}

fn hourly(name: &str) -> Schedule {
    let mut schedule = cron(name, "0 * * * *");
    schedule.owner = punctual_plan::Owner::default();
    schedule
}

/// Everything but the clock of the host, which may be nobody's business, is well.
fn sound(patient: &Patient) {
    let line = ["schedule", "create", "--name", "a", "--cron", "@daily", "--", "true"];
    assert!(patient.run(&line).status.success());
    let serving = patient.serve();
    let output = patient.run(&["system", "doctor"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let bad = |check: &&Value| check["state"] == "fail" && check["name"] != "clock_sync";
    assert_eq!(found["checks"].as_array().expect("a list").iter().find(bad), None);
    assert_eq!(judged(&output, "server").0, "ok");
    assert_eq!(judged(&output, "durability").0, "ok");
    assert_ne!(judged(&output, "disk_space").0, "fail");
    serving.stop();
}

#[test]
fn a_sound_installation_passes() {
    sound(&Patient::sqlite());
}

#[test]
fn a_sound_installation_on_postgres_passes_and_its_disk_is_left_to_the_server() {
    let _alone = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let patient = Patient::postgres();
    sound(&patient);
    let output = patient.run(&["system", "doctor"]);
    assert_eq!(judged(&output, "clock_offset").0, "ok");
    let (state, text) = judged(&output, "disk_space");
    assert!(state == "ok" && text.starts_with("not looked at"), "{state}: {text}");
}

#[test]
fn a_clock_that_nobody_keeps_is_found() {
    let patient = Patient::sqlite();
    let program = patient.person.home().join("timedatectl");
    std::fs::write(&program, "#!/bin/sh\necho no\n").expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("runnable");
    let path = format!("{}:{}", patient.person.home().display(), std::env::var("PATH").unwrap_or_default());
    let asked = |said: &str| {
        std::fs::write(&program, format!("#!/bin/sh\necho {said}\n")).expect("written");
        let output = patient.command(&["system", "doctor"]).env("PATH", &path).output().expect("it starts");
        judged(&output, "clock_sync").0
    };
    assert_eq!((asked("no"), asked("yes")), ("fail".to_owned(), "ok".to_owned()));
}

#[test]
fn a_server_on_postgres_whose_clock_is_wrong_is_found() {
    let patient = Patient::postgres();
    patient.alter(async |_| ());
    // What the server takes for its clock is found before the real one, so far away that the time a question
    // takes does not change the digits looked for.
    patient.tell(
        "CREATE SCHEMA wrong; GRANT USAGE ON SCHEMA wrong TO PUBLIC; \
         CREATE FUNCTION wrong.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS \
         $$ SELECT pg_catalog.clock_timestamp() + interval '3650 seconds' $$;",
    );
    patient.set("search_path = wrong, pg_catalog, public");
    check(&patient, "clock_offset", "the database's clock is 36");
}

#[test]
fn a_server_on_postgres_that_may_lose_commits_is_found() {
    let _alone = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let patient = Patient::postgres();
    patient.set("synchronous_commit = off");
    check(&patient, "durability", "synchronous_commit=off");
    patient.set("synchronous_commit = on");
    for setting in ["fsync", "full_page_writes"] {
        tell(&server(), &format!("ALTER SYSTEM SET {setting} = off"));
        tell(&server(), "SELECT pg_reload_conf()");
        // The postmaster tells its children; the first connection that has the new value is the one to ask.
        let mut said = String::new();
        while !said.contains(&format!("{setting}=off")) {
            said = judged(&patient.run(&["system", "doctor"]), "durability").1;
        }
        check(&patient, "durability", &format!("{setting}=off"));
        tell(&server(), &format!("ALTER SYSTEM RESET {setting}"));
        tell(&server(), "SELECT pg_reload_conf()");
        while judged(&patient.run(&["system", "doctor"]), "durability").0 != "ok" {}
    }
}

#[test]
fn a_full_disk_is_found() {
    let patient = Patient::sqlite();
    let output = patient.run(&["system", "doctor", "--disk-min", "999999999999"]);
    assert_eq!(judged(&output, "disk_space").0, "fail");
}

#[test]
fn too_few_open_files_are_found() {
    let patient = Patient::sqlite();
    let own = patient.command(&["system", "doctor"]);
    let program = own.get_program().to_owned();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -n 100; exec \"$0\" system doctor"]).arg(program);
    command.env("XDG_DATA_HOME", patient.person.home().join("data")).env_remove("DATABASE_URL");
    let output = command.output().expect("a shell");
    assert_eq!(
        judged(&output, "file_descriptors"),
        ("fail".to_owned(), "100 files may be open at once".to_owned())
    );
}

/// Each trouble under a name for either database.
macro_rules! troubles {
    ($($name:ident and $on_postgres:ident by $story:ident;)+) => {
        $(#[test]
        fn $name() {
            $story(&Patient::sqlite());
        }

        #[test]
        fn $on_postgres() {
            $story(&Patient::postgres());
        })+
    };
}

troubles! {
    a_newer_tz_database_than_ours_is_found and a_newer_tz_database_on_postgres_is_found by newer_tz;
    a_lease_that_is_over_with_runs_in_flight_is_found and a_lease_that_is_over_on_postgres_is_found by stale_lease;
    what_is_overdue_is_found and what_is_overdue_on_postgres_is_found by overdue;
    a_definition_that_cannot_be_read_is_found and a_definition_that_cannot_be_read_on_postgres_is_found by unreadable;
    references_that_lead_nowhere_are_found and references_that_lead_nowhere_on_postgres_are_found by lost;
}

fn newer_tz(patient: &Patient) {
    // The stage's second node brings the rules of 2090.
    patient.alter(async |_| ());
    check(patient, "tz_database", "a node here has had 2090a");
}

fn stale_lease(patient: &Patient) {
    patient.alter(async |stage| {
        let now = Timestamp::now();
        let dead = stage.store.join(node("dead", SignedDuration::from_hours(1))).await.expect("it joins");
        let key = stage.create(hourly("a"), now).await;
        stage.fence = dead.fence;
        stage.trigger(key, "k", now).await;
        stage.admit(now).await;
    });
    // Nothing is admitted without a lease, so it ends afterwards.
    patient.tell("UPDATE nodes SET lease_until = 1");
    check(patient, "leases", "1 runs in flight belong to nodes whose lease is over");
}

fn overdue(patient: &Patient) {
    patient.alter(async |stage| {
        let before = Timestamp::now() - SignedDuration::from_hours(3);
        stage.create(hourly("a"), before).await;
    });
    check(patient, "overdue", "1 schedules are not planned up to now");
}

fn unreadable(patient: &Patient) {
    patient.alter(async |stage| stage.create(hourly("a"), Timestamp::now()).await);
    patient.tell("UPDATE schedule_versions SET definition = replace(definition, 'UTC', 'Mars/Base')");
    check(patient, "definitions", "`a`: ");
}

fn lost(patient: &Patient) {
    patient.alter(async |stage| {
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
    check(patient, "dependencies", "`down` on ");
    check(patient, "secrets", "`calls` on `api`");
    check(patient, "programs", "`calls` on `no-such-program-anywhere`");
}
