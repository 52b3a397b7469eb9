//! Goal: what the command line says stays as it is until somebody means to change it.
//! Method: the real program in a home of its own; whole outputs as snapshots, errors with their exit codes.

use std::process::{Command, Output};

use tempfile::TempDir;

struct Terminal {
    home: TempDir,
}

impl Terminal {
    fn new() -> Self {
        Self { home: tempfile::tempdir().expect("a temporary folder") }
    }

    fn run(&self, line: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_punctual"))
            .args(line)
            .env_remove("DATABASE_URL")
            .env("XDG_DATA_HOME", self.home.path())
            .env("COLUMNS", "100")
            .env("TZ", "Asia/Tokyo")
            .output()
            .expect("the program starts")
    }

    fn stdout(&self, line: &[&str]) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }
}

/// A command that fails: its exit code and everything it says.
fn check(line: &[&str], code: i32, said: &str) {
    let terminal = Terminal::new();
    let output = terminal.run(line);
    assert_eq!(output.status.code(), Some(code), "{line:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr).trim_end(), said, "{line:?}");
    assert!(output.stdout.is_empty(), "an error leaves stdout alone");
}

#[test]
fn a_spec_that_cannot_be_meant_is_refused_with_where_and_what_to_write() {
    let create = |cron| ["schedule", "create", "--name", "x", "--cron", cron, "--", "true"];
    for cron in ["61 * * * *", "* * *", "0 0 30 2 *", "@reboot"] {
        let output = Terminal::new().run(&create(cron));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(4), "{cron}: {said}");
        assert!(said.starts_with("error: ") && said.contains("\nhint: "), "{cron}: {said}");
    }
}

#[test]
fn an_unknown_schedule_is_not_found() {
    for verb in ["runs", "delete"] {
        check(
            &["schedule", verb, "--name", "nobody"],
            3,
            "error: there is no schedule `nobody`\nhint: `punctual schedule list` shows what there is",
        );
    }
}

#[test]
fn a_name_that_is_empty_or_too_long_is_refused() {
    let hint = "hint: choose a short name, such as `nightly-backup`";
    let create = |name| ["schedule", "create", "--name", name, "--cron", "@daily", "--", "true"];
    check(&create(" "), 4, &format!("error: --name: the name is empty\n{hint}"));
    check(&create(&"x".repeat(201)), 4, &format!("error: --name: the name is longer than 200 bytes\n{hint}"));
}

#[test]
fn a_database_of_another_kind_is_refused() {
    check(
        &["--database", "mysql://localhost/x", "schedule", "list"],
        4,
        "error: `mysql` databases are not supported\nhint: give the path of a SQLite file, or `postgres://…`",
    );
}

#[test]
fn a_wrong_command_line_has_exit_code_two() {
    let output = Terminal::new().run(&["schedule", "crate"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("'create'"), "{said}");
}

#[test]
fn an_option_without_a_meaning_is_refused_wherever_it_stands() {
    let lines: [&[&str]; 4] = [
        &["--database", "x.db", "spec", "next", "@daily"],
        &["spec", "next", "@daily", "--database", "x.db"],
        &["completions", "bash", "--database", "x.db"],
        &["--json", "man"],
    ];
    for line in lines {
        let output = Terminal::new().run(line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("has no meaning here"), "{line:?}");
    }
}

#[test]
fn a_name_that_is_taken_is_a_conflict_and_nothing_is_written() {
    let terminal = Terminal::new();
    let create = ["schedule", "create", "--name", "x", "--cron", "@daily", "--", "true"];
    terminal.stdout(&create);
    let output = terminal.run(&create);
    assert_eq!(output.status.code(), Some(5));
    let listed: serde_json::Value =
        serde_json::from_str(&terminal.stdout(&["schedule", "list"])).expect("JSON");
    assert_eq!(listed["schedules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_dry_run_shows_the_first_ticks_and_writes_nothing() {
    let terminal = Terminal::new();
    let line = ["schedule", "create", "--name", "x", "--cron", "0 9 * * 1-5", "--dry-run", "--", "true"];
    let preview: serde_json::Value = serde_json::from_str(&terminal.stdout(&line)).expect("JSON");
    assert_eq!(preview["next"].as_array().map(Vec::len), Some(5));
    assert_eq!(terminal.stdout(&["schedule", "list"]), "{\"schedules\":[]}\n");
}

#[test]
fn a_schedule_that_nobody_runs_yet_comes_with_a_note() {
    let terminal = Terminal::new();
    let output = terminal.run(&["schedule", "create", "--name", "x", "--cron", "@daily", "--", "true"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "note: nobody runs the schedules of this database yet; start `punctual serve`\n");
}

/// A file of schedules in a folder of its own.
fn planned(text: &str, from: &str) -> Output {
    let terminal = Terminal::new();
    let file = terminal.home.path().join("jobs.yaml");
    std::fs::write(&file, text).expect("written");
    terminal.run(&["plan", &file.display().to_string(), "--from", from])
}

#[test]
fn a_plan_shows_the_first_day_with_clock_changes_and_windows() {
    let text = "targets: {t: {type: process, argv: [x, y]}}\nschedules:\n\
        - {name: night, cron: 30 2 * * *, timezone: America/New_York, target: t, retry_after: 10m}\n\
        - {name: office, cron: 0 */12 * * *, timezone: America/New_York, target: t, not_on: [sunday]}\n\
        - {name: report, on: {schedule: night, delay: 90s}, target: t}\n\
        - {name: busy, cron: '* * * * * *', target: t, only_between: 12:00-13:00}\n\
        - {name: off, every: 1h, target: t, enabled: false}\n";
    let output = planned(text, "2027-03-13T17:00:30Z");
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&plan["from"], &plan["to"]),
        (&"2027-03-13T17:00:30Z".into(), &"2027-03-14T17:00:30Z".into())
    );
    let busy = &plan["plan"][0];
    assert_eq!(busy["fires"].as_array().map(Vec::len), Some(100));
    let counted = |key: &str| busy[key].as_u64().expect("a number");
    assert_eq!(counted("fires_more") + counted("suppressed_more") + 200, 86_400, "every tick is counted");
    assert_eq!(plan["plan"][2]["fires"], serde_json::json!([]), "what is disabled does not fire");
    let shown: Vec<String> = [1, 3, 4]
        .map(|number: usize| serde_json::to_string_pretty(&plan["plan"][number]).expect("JSON"))
        .to_vec();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn local_is_the_zone_of_the_host_that_reads_the_file() {
    let text = "settings: {timezone: local}\ntargets: {t: {type: process, argv: [x]}}\n\
        quiet_hours: {nights: {during: '22:00-06:00', timezone: local}}\nschedules:\n\
        - {name: a, cron: 0 9 * * *, target: t}\n\
        - {name: b, cron: '0 11,14 * * *', timezone: UTC, quiet_hours: nights, target: t}\n\
        - {name: c, cron: 0 9 * * *, timezone: Local, target: t}\n";
    let output = planned(text, "2027-01-01T00:00:30Z");
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for number in [0, 2] {
        assert_eq!(plan["plan"][number]["timezone"], "Asia/Tokyo");
        assert_eq!(plan["plan"][number]["fires"][0]["at"], "2027-01-01T09:00:00+09:00");
    }
    assert_eq!(plan["plan"][1]["suppressed"][0]["at"], "2027-01-01T14:00:00Z", "it is night there");
}

#[test]
fn a_plan_of_a_file_that_cannot_be_meant_has_exit_code_four() {
    let output = planned("schedules:\n- {name: a, evry: 5m}\n", "2027-01-01T00:00");
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("jobs.yaml:2:13: `evry` is not a key here\n"), "{said}");
    assert!(said.ends_with("hint: did you mean `every`?\n"), "{said}");
    check(
        &["plan", "/no/such/file.yaml"],
        4,
        "error: cannot read `/no/such/file.yaml`: No such file or directory (os error 2)\n\
         hint: give the path of a YAML file, or of a folder of them",
    );
}

#[test]
fn completions_and_manual_know_every_command() {
    let terminal = Terminal::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(terminal.stdout(&["completions", shell]).contains("schedule"), "{shell}");
    }
    assert!(terminal.stdout(&["man"]).contains(".TH punctual 1"));
    let folder = terminal.home.path().join("man");
    terminal.stdout(&["man", "--dir", &folder.display().to_string()]);
    let page =
        std::fs::read_to_string(folder.join("punctual-schedule-create.1")).expect("a page per command");
    assert!(page.contains("\\-\\-cron"), "{page}");
}

#[test]
fn the_version_is_the_one_of_the_package() {
    assert_eq!(Terminal::new().stdout(&["--version"]), format!("punctual {}\n", env!("CARGO_PKG_VERSION")));
}
