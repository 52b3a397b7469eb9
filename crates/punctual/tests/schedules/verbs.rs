//! Every verb: what it changes, what it shows, and what it refuses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::place::Place;

fn create(place: &Place, name: &str, rest: &str) -> serde_json::Value {
    place.json(&format!("schedule create --name {name} {rest}"))["schedule"].clone()
}

#[test]
fn every_flag_comes_back_under_its_name() {
    let place = Place::sqlite();
    create(&place, "up", "--cron @daily -- true");
    let one = create(
        &place,
        "all",
        "--cron '0 9 * * 1-5' --timezone Europe/Berlin --dialect posix --start-at 2030-01-01T00:00 \
         --end-at 2031-01-01T00:00Z --max-runs 7 --only-between 08:00-18:00 --not-on saturday,sunday --dst-gap skip \
         --dst-fold both --if-running queue --catch-up run_all --max-catch-up 3 --missed-audit-max 2 --grace 5m \
         --start-deadline 10m --jitter '30s around' --retry-after 1m --run-timeout 2h \
         --max-consecutive-failures 0 --delivery at_most_once --guard g --lane l --depends-on up \
         --depends-timeout 2h --launch-attempts 5 --launch-delay 2s --payload '{\"a\": 1}' --description why \
         --tag x --tags y,z --env K=V --cwd /tmp -- echo a b",
    );
    let expected = json!({
        "type": "cron", "spec": "0 9 * * 1-5", "cron_expression": "0 9 * * 1-5", "dialect": "posix",
        "timezone": "Europe/Berlin", "start_at": "2029-12-31T23:00:00Z", "end_at": "2031-01-01T00:00:00Z",
        "max_runs": 7, "only_between": "08:00-18:00", "not_on": ["sunday", "saturday"],
        "dst": {"gap": "skip", "fold": "both"}, "if_running": "queue", "catch_up": "run_all", "max_catch_up": 3,
        "missed_audit_max": 2, "grace": "5m", "start_deadline": "10m",
        "jitter": {"max": "30s", "mode": "around"}, "retry_after": "1m", "run_timeout": "2h",
        "max_consecutive_failures": null, "delivery": "at_most_once", "guard": "g", "lane": "l",
        "depends_timeout": "2h", "launch": {"attempts": 5, "delay": "2s"}, "payload": {"a": 1},
        "description": "why", "tags": ["y", "z", "x"], "enabled": true, "status": "active", "version": 1,
    });
    let got = place.json("schedule get --name all")["schedule"].clone();
    for (key, value) in expected.as_object().expect("keys") {
        assert_eq!(got[key], *value, "{key}");
    }
    assert_eq!(got["depends_on"], json!(["up"]));
    assert_eq!(got["target"]["env"], json!({"K": "V"}));
    assert_eq!(one["id"], got["id"]);
    let cleared = place.json(
        "schedule update --name all --grace none --guard '' --retry-after none --tags none --dst-gap none \
         --max-runs none --depends-on none --depends-timeout none",
    );
    let cleared = &cleared["schedule"];
    assert_eq!(
        (&cleared["grace"], &cleared["guard"], &cleared["tags"]),
        (&json!("1m"), &json!(null), &json!([]))
    );
    assert_eq!((&cleared["dst"], &cleared["max_runs"]), (&json!({"fold": "both"}), &json!(null)));
}

#[test]
fn a_dry_run_shows_before_and_after_and_writes_nothing() {
    let place = Place::sqlite();
    create(&place, "a", "--cron '0 9 * * *' -- true");
    let shown = place.json("schedule update --name a --cron '0 10 * * *' --dry-run");
    let hours = |key: &str| shown[key][0].as_str().map(|at| at[11..].to_owned());
    assert_eq!((hours("before"), hours("after")), (Some("09:00:00Z".into()), Some("10:00:00Z".into())));
    assert_eq!(shown["changes"], json!([{"field": "spec", "before": "0 9 * * *", "after": "0 10 * * *"}]));
    for line in ["disable --name a", "delete --name a", "trigger --name a"] {
        place.json(&format!("schedule {line} --dry-run"));
    }
    let row = place.json("schedule get --name a")["schedule"].clone();
    assert_eq!(
        (&row["version"], &row["status"], &row["spec"]),
        (&json!(1), &json!("active"), &json!("0 9 * * *"))
    );
    assert_eq!(place.json("schedule runs --all")["runs"], json!([]));
}

#[test]
fn h_is_the_same_before_and_after_it_is_stored() {
    let place = Place::sqlite();
    let dry = place.json("schedule create --name h --cron 'H H * * *' --dry-run -- true");
    let one = create(&place, "h", "--cron 'H H * * *' -- true");
    assert_eq!(dry["schedule"]["cron_expression"], one["cron_expression"]);
    assert_eq!(dry["schedule"]["id"], one["id"]);
    place.json("schedule delete --name h");
    assert_ne!(create(&place, "h", "--cron 'H H * * *' -- true")["id"], one["id"], "history keeps its id");
}

#[test]
fn an_edit_keeps_the_anchor_and_a_rollback_is_a_new_version() {
    let place = Place::sqlite();
    let one = create(&place, "a", "--every 90m -- true");
    let two = place.json("schedule update --name a --description later")["schedule"].clone();
    // The first tick comes within a second, so it may be over by now; the others are whole intervals after it.
    let next =
        |row: &Value| -> Timestamp { row["next_run_at"].as_str().expect("a tick").parse().expect("a time") };
    let is_anchored = |row: &Value| next(row).duration_since(next(&one)).as_secs() % (90 * 60) == 0;
    assert!(is_anchored(&two), "{two}");
    place.json("schedule update --name a --every 2h");
    let back = place.json("schedule rollback --name a --to 1")["schedule"].clone();
    assert_eq!(
        (&back["version"], &back["spec"], &back["description"]),
        (&json!(4), &json!("90m"), &json!(null))
    );
    assert!(is_anchored(&back), "{back}");
    let versions = place.json("schedule history --name a")["versions"].clone();
    assert_eq!(versions[0]["version"], 4);
    assert_eq!(versions[1]["changes"], json!([{"field": "spec", "before": "90m", "after": "2h"}]));
    assert_eq!(versions[3]["by"], "ada");
    let told = create(&place, "b", "--every 1000h --anchor-at 2026-01-01T00:30Z -- true");
    let later = place.json("schedule update --name b --description later")["schedule"].clone();
    assert_eq!(later["next_run_at"], told["next_run_at"]);
    let (code, said) = place.refused("schedule rollback --name a --to 9");
    assert_eq!((code, said.lines().next()), (3, Some("error: `a` has no version 9")));
}

#[test]
fn a_command_that_finds_a_server_asks_it_to_write() {
    let place = Place::sqlite();
    create(&place, "a", "--cron @daily -- true");
    let server = UnixListener::bind(place.socket()).expect("nobody listens");
    // Whoever only looks whether somebody listens says nothing.
    let first_line = move || {
        server.incoming().map_while(Result::ok).find_map(|caller| {
            let mut line = String::new();
            BufReader::new(caller).read_line(&mut line).ok().filter(|length| *length > 0).map(|_| line)
        })
    };
    let asked = std::thread::spawn(first_line);
    let output = place.shell("punctual schedule disable --name a");
    // It ends the thread if nobody has said anything.
    if let Ok(mut caller) = UnixStream::connect(place.socket()) {
        writeln!(caller, "nothing was asked").ok();
    }
    let asked = asked.join().expect("no panic").expect("somebody has called");
    assert!(asked.starts_with("POST /api/v1/schedules/"), "{asked}");
    assert!(!output.status.success(), "the answer is missing");
    std::fs::remove_file(place.socket()).expect("it is there");
    assert_eq!(place.json("schedule get --name a")["schedule"]["status"], "active");
}

#[test]
fn a_delay_becomes_an_instant_once() {
    let place = Place::sqlite();
    let made = create(&place, "a", "--after 1h -- true");
    let at = |row: &Value| row["next_run_at"].as_str().map(str::to_owned);
    assert_eq!(made["type"], "one_shot");
    assert!(at(&made).is_some() && made["spec"].as_str() == at(&made).as_deref(), "{made}");
    let later = place.json("schedule update --name a --description later")["schedule"].clone();
    assert_eq!((at(&later), &later["spec"]), (at(&made), &made["spec"]));
    // Whoever reads what was exported makes the same instant of it.
    let exported = place.said("punctual export");
    assert!(exported.contains(&at(&made).expect("a tick")), "{exported}");
}

#[test]
fn many_are_changed_by_their_tag() {
    let place = Place::sqlite();
    for number in 0..12 {
        create(&place, &format!("t{number}"), "--cron @daily --tag team -- true");
    }
    create(&place, "other", "--cron @daily -- true");
    assert_eq!(place.json("schedule disable --tag team --note holidays")["changed"], 12);
    assert_eq!(place.json("schedule disable --tag team")["changed"], 0);
    assert_eq!(
        place.json("schedule list --status paused_manual")["schedules"].as_array().map(Vec::len),
        Some(12)
    );
    assert_eq!(place.json("schedule list --tag team")["schedules"][0]["status_detail"], "by ada: holidays");
    assert_eq!(place.json("schedule update --tag team --grace 5m")["changed"], 12);
    assert_eq!(place.json("schedule enable --tag team")["changed"], 12);
    assert_eq!(place.json("schedule trigger --tag team")["requests"].as_array().map(Vec::len), Some(12));
    assert_eq!(place.json("schedule delete --tag team")["changed"], 12);
    let page = place.json("schedule list --all --limit 5");
    assert_eq!(page["schedules"].as_array().map(Vec::len), Some(5));
    let next = page["next"].as_str().expect("a cursor");
    let rest = place.json(&format!("schedule list --all --after '{next}'"));
    assert_eq!(rest["schedules"].as_array().map(Vec::len), Some(8));
    assert_eq!(place.json("schedule list")["schedules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_repeated_request_makes_nothing_twice() {
    let place = Place::sqlite();
    let line = "schedule create --name a --after 2h --request-key k1 -- true";
    let (first, again) = (place.json(line), place.json(line));
    assert_eq!((&first["created"], &again["created"]), (&json!(true), &json!(false)));
    assert_eq!(first["schedule"]["id"], again["schedule"]["id"]);
    let (code, said) = place.refused("schedule create --name b --after 3h --request-key k1 -- true");
    assert_eq!(code, 5, "{said}");
    let trigger = "schedule trigger --name a --request-key k2";
    assert_eq!(place.json(trigger)["run_id"], place.json(trigger)["run_id"]);
}

#[test]
fn a_file_makes_its_schedules_with_what_they_share() {
    let place = Place::sqlite();
    let file = "cat > f.yaml <<'END'\ncalendars: {closed: {dates: ['2030-01-01']}}\nschedules:\n\
        - {name: one, every: 1h, not_on: [closed], target: {type: process, argv: [echo]}}\n\
        - {name: two, on: {schedule: one}, target: {type: queue, queue: q}}\nEND\n";
    place.said(file);
    assert_eq!(
        place.json("schedule create --file f.yaml --dry-run")["schedules"].as_array().map(Vec::len),
        Some(2)
    );
    place.json("schedule create --file f.yaml");
    assert_eq!(place.json("schedule get --name two")["schedule"]["on"], json!({"schedule": "one"}));
    assert_eq!(place.json("schedule get --name one")["schedule"]["not_on"], json!(["closed"]));
    assert_eq!(place.refused("schedule create --file f.yaml").0, 5);
    create(&place, "three", "--every 1h --not-on closed --depends-on one -- true");
    let (code, said) = place.refused("schedule update --name one --depends-on three");
    assert_eq!(code, 4);
    assert!(said.starts_with("error: `one` would wait for itself"), "{said}");
}

#[test]
fn every_class_of_error_says_what_to_do() {
    let place = Place::sqlite();
    create(&place, "backup", "--cron @daily -- true");
    let lines = [
        "schedule create --name backup --cron @hourly -- true",
        "schedule create --name x --cron '61 * * * *' -- true",
        "schedule create --name x -- true",
        "schedule create --name x --cron @daily",
        "schedule create --name x --cron @daily --every 5m -- true",
        "schedule create --name x --at 2020-01-01T00:00Z -- true",
        "schedule create --name x --cron @daily --if-running perhaps -- true",
        "schedule create --name x --cron @daily --max-runs many -- true",
        "schedule create --name x --cron @daily --payload '{' -- true",
        "schedule create --name x --cron @daily --depends-on bakcup -- true",
        "schedule create --name x --cron @daily --queue q -- true",
        "schedule create --name x --cron @daily --webhook ftp://example.com",
        "schedule create --name x --cron @daily --webhook https://ada:pass@example.com",
        "schedule create --name x --cron @daily --webhook https://example.com --header Host=x",
        "schedule create --name x --cron @daily --webhook https://example.com --body '{{ sheduled_for }}'",
        "schedule create --name x --cron @daily --webhook https://example.com --secret whsec_abc",
        "schedule create --name x --cron @daily --webhook https://example.com --client-key pem --timeout 0s",
        "schedule create --name x --cron @daily --webhook https://example.com --redirects 99",
        "schedule create --name x --cron @daily --method PUT -- true",
        "schedule create --name x --schedule 'every blue moon' -- true",
        "schedule create --name x --cron @daily --timezone Europe/Atlantis -- true",
        "schedule create --name x --cron @daily --not-on easter -- true",
        "schedule create --name x --template t -- true",
        "schedule get --name bakcup",
        "schedule update --name backup",
        "schedule update --name backup --env A",
        "schedule enable --tag nobody",
        "request create --cron @daily --queue q",
        "request create --prompt hello",
    ];
    let said: Vec<String> = lines
        .iter()
        .map(|line| {
            let (code, said) = place.refused(line);
            format!("$ punctual {line}\n[{code}] {said}")
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(place.json("schedule list")["schedules"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_people_see_reads_as_it_did() {
    let place = Place::sqlite();
    let named = "--start-at 2040-01-02T00:00 --timezone Europe/Berlin";
    create(&place, "backup", &format!("--cron '0 3 * * *' {named} --grace 5m --tag data -- backup --all"));
    create(&place, "report", "--on backup --on-delay 5m --worker-type writer --prompt 'Write it'");
    create(&place, "once", "--at 2041-05-06T07:08 --disabled -- true");
    let lines = [
        "schedule list",
        "schedule get --name backup",
        "schedule get --name report",
        "schedule preview --name backup --count 3",
        "schedule update --name backup --cron '0 4 * * *' --retry-after 1m --dry-run",
        "schedule update --name backup --cron '0 4 * * *' --retry-after 1m",
        "schedule update --name backup --cron '0 4 * * *'",
        "schedule disable --name backup --note 'we move'",
        "schedule enable --name backup",
        "schedule delete --name once",
        "schedule parse 'every day at 6 until 1 June 2031'",
    ];
    let said: Vec<String> =
        lines.iter().map(|line| format!("$ punctual {line}\n{}", place.text(line))).collect();
    insta::assert_snapshot!(said.join("\n"));
    let versions = place.text("schedule history --name backup");
    assert!(versions.contains("ada  spec: `0 3 * * *` → `0 4 * * *`; retry_after: `1m`"), "{versions}");
}
