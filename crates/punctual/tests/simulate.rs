//! Goal: a file can be tried before it is live, and what the trial says can be read.
//! Method: the real program on a small file; whole tables and pictures as snapshots, JSON by its values, refusals with
//! their exit codes and hints.

use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const SHOP: &str = "\
settings: {timezone: Europe/Berlin}
targets: {chat: {type: webhook, url: https://chat.example.com/shop}}
schedules:
- name: backup
  cron: 30 2 * * *
  catch_up: run_once
  target: {type: process, argv: [backup]}
- name: report
  on: {schedule: backup, delay: 5m}
  target: chat
- name: reminder
  schedule: every 30 minutes between 9am and 5pm on weekdays
  target: chat
";

/// A Monday from midnight on, there.
const DAY: [&str; 2] = ["--from", "2026-11-15T23:00:10Z"];

struct Trial {
    folder: TempDir,
}

impl Trial {
    fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("shop.yaml"), text).expect("written");
        Self { folder }
    }

    fn run(&self, world: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_punctual"))
            .current_dir(self.folder.path())
            .args(["simulate", "shop.yaml"])
            .args(world)
            .env_remove("DATABASE_URL")
            .env("TZ", "Asia/Tokyo")
            .output()
            .expect("the program starts")
    }

    fn stdout(&self, world: &[&str]) -> String {
        let output = self.run(world);
        assert!(output.status.success(), "{world:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Worlds and what is shown of them, one under the other.
    fn shown(&self, view: &str, worlds: &[&[&str]]) -> String {
        let shown = worlds.iter().map(|world| {
            let line = [&DAY[..], &["--as", view], world].concat();
            format!("$ {}\n{}", world.join(" "), self.stdout(&line))
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    fn json(&self, world: &[&str]) -> Value {
        serde_json::from_str(&self.stdout(&[&DAY[..], world].concat())).expect("JSON")
    }

    /// The runs of a schedule: the tick, what became of it, and why.
    fn runs(&self, schedule: &str, world: &[&str]) -> Vec<String> {
        let json = self.json(world);
        let mut schedules = json["schedules"].as_array().expect("schedules").iter();
        let found = schedules.find(|found| found["name"] == schedule).expect("the schedule");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let run = |run: &Value| [&run["scheduled_for"], &run["status"], &run["reason"]].map(text).join(" ");
        found["runs"].as_array().expect("runs").iter().map(run).collect()
    }
}

#[test]
fn a_table_tells_when_each_tick_ran_or_why_not() {
    let outage = "2026-11-16T09:10..2026-11-16T12:10:20";
    insta::assert_snapshot!(Trial::of(SHOP).shown(
        "table",
        &[
            &[],
            &["--outage", outage, "--run-time", "45m", "--fail", "reminder=every:3"],
            &["--set", "catch_up=run_once", "--outage", outage],
            &["--set", "backup:cron=0 4 * * *", "--set", "reminder:enabled=false"],
            &["--fail", "reminder=always"],
            &["--do", "2026-11-16T10:10 reminder delete"],
            &["--to", "2026-11-16T08:40Z", "--run-time", "40m", "--set", "if_running=queue"],
            &["--to", "2026-11-16T01:31Z", "--fail", "backup=always", "--set", "backup:retry_after=10m"],
        ]
    ));
}

#[test]
fn a_picture_has_a_line_for_each_schedule() {
    let outage = "2026-11-16T09:10+3h";
    insta::assert_snapshot!(Trial::of(SHOP).shown(
        "timeline",
        &[&[], &["--outage", outage, "--run-time", "45m", "--fail", "every:3"], &["--set", "enabled=false"],]
    ));
}

#[test]
fn clocks_that_go_back_and_schedules_of_several_zones_are_told_apart() {
    let text = "targets: {t: {type: process, argv: [x]}}\nschedules:\n\
        - {name: berlin, cron: '*/30 * * * *', timezone: Europe/Berlin, target: t}\n";
    let night = ["--from", "2026-10-24T23:50Z", "--to", "2026-10-25T01:40Z", "--as", "table"];
    let one = Trial::of(text).stdout(&night);
    let tokyo = "- {name: tokyo, cron: 0 * * * *, timezone: Asia/Tokyo, target: t}\n";
    let two = Trial::of(&format!("{text}{tokyo}")).stdout(&night);
    insta::assert_snapshot!(format!("{one}\n{two}"));
}

#[test]
fn programs_get_the_whole_ledger() {
    let trial = Trial::of(SHOP);
    let world = ["--run-time", "report=90s", "--fail", "report=first:1:launch"];
    let json = trial.json(&world);
    assert_eq!(json, trial.json(&[&world[..], &["--json"]].concat()), "in a pipe it is JSON anyway");
    assert_eq!(json, trial.json(&[&world[..], &["--as", "json"]].concat()));
    assert_eq!(json["to"], "2026-11-16T23:00:10Z");
    let report = &json["schedules"][2];
    insta::assert_snapshot!(serde_json::to_string_pretty(&report["runs"]).expect("JSON"));
    assert_eq!((&report["run_count"], &report["success_count"]), (&1.into(), &1.into()));
    assert_eq!(json["breakers"]["chat"], "closed");
}

#[test]
fn a_key_is_laid_over_all_schedules_or_over_one() {
    let trial = Trial::of(SHOP);
    let spec = |world: &[&str], place: usize| trial.json(world)["schedules"][place]["spec"].clone();
    assert_eq!(spec(&["--set", "backup:cron=0 4 * * *"], 0), "0 4 * * *");
    assert_eq!(
        spec(&["--set", "reminder:every=2h"], 1),
        "2h",
        "one way to say when takes the place of another"
    );
    let json = trial.json(&["--set", "max_catch_up=7"]);
    for schedule in json["schedules"].as_array().expect("schedules") {
        assert_eq!(schedule["policies"]["max_catch_up"], 7);
    }
}

#[test]
fn both_forms_of_an_outage_are_the_same() {
    let trial = Trial::of(SHOP);
    let one = trial.json(&["--outage", "2026-11-16T09:10..2026-11-16T12:10"]);
    assert_eq!(one, trial.json(&["--outage", "2026-11-16T09:10Z+3h"]));
    assert_eq!(one, trial.json(&["--outage", "2026-11-16T09:10+1h", "--outage", "2026-11-16T10:00+130m"]));
}

#[test]
fn runs_take_the_time_and_fail_in_the_way_that_the_world_says() {
    let trial = Trial::of(SHOP);
    let check = |world: &[&str], expected: &str| {
        let runs = trial.runs("reminder", &[&["--set", "reminder:max_runs=3"], world].concat());
        assert_eq!(runs.join("\n").replace("2026-11-16T0", ""), expected, "{world:?}");
    };
    check(&[], "8:00:00Z success -\n8:30:00Z success -\n9:00:00Z success -");
    check(
        &["--run-time", "20m", "--run-time", "backup=3h"],
        "8:00:00Z success -\n8:30:00Z success -\n9:00:00Z success -",
    );
    check(
        &["--run-time", "reminder=40m"],
        "8:00:00Z success -\n8:30:00Z skipped overlap\n9:00:00Z success -\n9:30:00Z skipped overlap\n2026-11-16T10:00:00Z success -",
    );
    check(&["--fail", "every:2"], "8:00:00Z success -\n8:30:00Z failed reported\n9:00:00Z success -");
    check(
        &["--fail", "first:1:lost", "--set", "run_timeout=20m"],
        "8:00:00Z failed lost\n8:30:00Z success -\n9:00:00Z success -",
    );
    check(
        &["--fail", "always:launch"],
        "8:00:00Z failed launch_failed\n8:30:00Z failed launch_failed\n9:00:00Z failed launch_failed",
    );
    check(
        &["--fail", "always", "--fail", "reminder=never"],
        "8:00:00Z success -\n8:30:00Z success -\n9:00:00Z success -",
    );
}

#[test]
fn a_failure_takes_the_time_that_its_kind_takes() {
    let trial = Trial::of(SHOP);
    let check = |how: &str, (reason, minutes): (&str, i64)| {
        let world = ["--run-time", "7m", "--fail", how, "--set", "backup:run_timeout=20m"];
        let attempt = &trial.json(&world)["schedules"][0]["runs"][0]["attempts"][0];
        let at = |key: &str| -> jiff::Timestamp {
            attempt[key].as_str().expect("text").parse().expect("an instant")
        };
        let took = at("completed_at").duration_since(at("started_at")).as_mins();
        assert_eq!((attempt["reason"].as_str(), took), (Some(reason), minutes), "{how}");
    };
    check("backup=always", ("exit_code", 7));
    check("backup=always:launch", ("launch_failed", 0));
    check("backup=always:lost", ("lost", 20));
}

#[test]
fn people_may_do_anything_meanwhile() {
    let trial = Trial::of(SHOP);
    let check = |deeds: &[&str], expected: &[&str]| {
        let world: Vec<&str> = deeds.iter().flat_map(|deed| ["--do", deed]).collect();
        let short = ["--set", "reminder:end_at=2026-11-16T11:00", "--run-time", "reminder=10m"];
        let runs = trial.runs("reminder", &[&short[..], &world].concat());
        let runs: Vec<String> = runs.iter().map(|run| run.replace("2026-11-16T0", "")).collect();
        assert_eq!(runs, expected, "{deeds:?}");
    };
    let usual = ["8:00:00Z success -", "8:30:00Z success -", "9:00:00Z success -", "9:30:00Z success -"];
    check(&[], &[&usual[..], &["2026-11-16T10:00:00Z success -"]].concat());
    check(&["2026-11-16T08:40 reminder pause"], &usual[..2]);
    check(
        &["2026-11-16T08:40 reminder pause", "2026-11-16T09:15 reminder resume"],
        &[usual[0], usual[1], "9:00:00Z missed paused", usual[3], "2026-11-16T10:00:00Z success -"],
    );
    check(&["2026-11-16T08:40 reminder delete"], &usual[..2]);
    check(
        &["2026-11-16T08:05 reminder trigger", "2026-11-16T08:40 reminder delete"],
        &["8:00:00Z success -", "8:05:00Z skipped overlap", "8:30:00Z success -"],
    );
    check(
        &["2026-11-16T08:05 reminder force", "2026-11-16T08:40 reminder delete"],
        &["8:00:00Z success -", "8:05:00Z success -", "8:30:00Z success -"],
    );
    check(
        &["2026-11-16T08:05 reminder cancel", "2026-11-16T08:40 reminder delete"],
        &["8:00:00Z cancelled cancelled", "8:30:00Z success -"],
    );
    check(
        &["2026-11-16T08:40 reminder set every=1h", "2026-11-16T09:20 reminder delete"],
        &[usual[0], usual[1], "9:00:10Z success -"],
    );
}

/// A world that cannot be meant: its exit code and everything that is said.
fn refused(world: &[&str]) -> String {
    let output = Trial::of(SHOP).run(world);
    assert!(output.stdout.is_empty(), "an error leaves stdout alone");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().expect("an exit code");
    assert!(code == 2 || said.contains("\nhint: "), "{world:?}: {said}");
    format!("$ {}\nexit code {code}\n{said}", world.join(" "))
}

#[test]
fn a_world_that_cannot_be_meant_is_refused_with_what_to_write() {
    let worlds: [&[&str]; 29] = [
        &["--from", "yesterday"],
        &["--to", "2026-13-01T00:00"],
        &["--from", "2026-11-16T00:00", "--to", "2026-11-15T00:00"],
        &["--from", "2026-11-16T00:00", "--to", "2026-11-16T00:00"],
        &["--from", "2026-11-16T00:00", "--to", "2046-11-16T00:00"],
        &["--outage", "2026-11-16T00:00"],
        &["--outage", "noon..midnight"],
        &["--outage", "2026-11-16T02:00..2026-11-16T01:00"],
        &["--outage", "2026-11-16T02:00+soon"],
        &["--outage", "2026-11-16T02:00+0s"],
        &["--from", "2026-11-16T00:00", "--outage", "2026-11-15T02:00+2h"],
        &["--run-time", "long"],
        &["--run-time", "bakcup=5m"],
        &["--fail", "sometimes"],
        &["--fail", "every:0"],
        &["--fail", "always:loudly"],
        &["--fail", "bakcup=always"],
        &["--set", "catch_up"],
        &["--set", "catchup=spread"],
        &["--set", "catch_up=sread"],
        &["--set", "bakcup:catch_up=spread"],
        &["--set", "if_running=[1"],
        &["--do", "pause"],
        &["--do", "2026-11-16T10:00 backup sleep"],
        &["--from", "2026-11-16T00:00", "--do", "2026-11-17T02:00 backup pause"],
        &["--do", "noon backup pause"],
        &["--from", "2026-11-16T00:00", "--do", "2026-11-16T10:00 bakcup pause"],
        &["--from", "2026-11-16T00:00", "--do", "2026-11-16T10:00 backup set evry=5m"],
        &["--as", "poem"],
    ];
    let said: Vec<String> = worlds.iter().map(|world| refused(world)).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_view_and_json_are_not_asked_for_together() {
    let output = Trial::of(SHOP).run(&["--json", "--as", "table"]);
    assert_eq!(output.status.code(), Some(2));
}
