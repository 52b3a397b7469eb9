//! Goal: `punctual spec` answers by flags and by batch alike, in order, and refuses with code, message and hint.
//! Method: the real program; lines of JSON in, lines of JSON out.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

fn punctual(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_punctual"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    writing.join().expect("no panic").expect("the program reads its input");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn batch(verb: &str, lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (code, stdout, stderr) = punctual(&["spec", verb, "--batch", "-"], &input);
    assert_eq!(code, Some(0), "{stderr}");
    stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn check(verb: &str, request: Value, expected: &Value) {
    assert_eq!(batch(verb, &[request])[0], *expected);
}

#[test]
fn ticks_come_with_the_offset_of_their_zone() {
    check(
        "next",
        json!({"expr": "30 2 * * *", "tz": "America/New_York", "after": "2025-03-08T23:50:00-05:00", "count": 2}),
        &json!({"next": ["2025-03-09T03:00:00-04:00", "2025-03-10T02:30:00-04:00"]}),
    );
    check(
        "next",
        json!({"expr": "0 0 29 2 *", "after": "2025-01-01T00:00:00Z", "count": 1}),
        &json!({"next": ["2028-02-29T00:00:00Z"]}),
    );
}

#[test]
fn every_field_changes_the_answer() {
    let plain = json!({"expr": "0 * * * *", "after": "2025-03-09T00:00:00", "count": 30});
    let base = batch("next", std::slice::from_ref(&plain));
    for (field, value) in [
        ("tz", json!("America/New_York")),
        ("after", json!("2025-03-09T05:00:00")),
        ("count", json!(3)),
        ("inclusive", json!(true)),
        ("start_at", json!("2025-03-09T09:00:00Z")),
        ("end_at", json!("2025-03-09T09:00:00Z")),
        ("only_between", json!("22:00-06:00")),
        ("not_on", json!(["monday", 0])),
    ] {
        let mut asked = plain.clone();
        asked[field] = value;
        assert_ne!(batch("next", &[asked]), base, "{field}");
    }
    let shifted = |rule: Value| {
        let mut asked = json!({"expr": "30 1,2 * * *", "tz": "America/New_York", "count": 4});
        asked["after"] = json!("2025-03-08T12:00:00");
        for (name, value) in rule.as_object().expect("an object") {
            asked[name] = value.clone();
        }
        batch("next", &[asked])
    };
    assert_ne!(shifted(json!({"dst_gap": "skip"})), shifted(json!({})));
    let autumn = json!({"after": "2025-11-01T12:00:00"});
    let both = json!({"after": "2025-11-01T12:00:00", "dst_fold": "both"});
    assert_ne!(shifted(both), shifted(autumn));
    let hashed = |id: &str| batch("next", &[json!({"expr": "H H * * *", "id": id, "after": "2025-01-01"})]);
    assert_ne!(hashed("one"), hashed("two"));
    let every = |anchor: &str, start: &str| {
        let asked = json!({"every": "2h", "anchor": anchor, "start_at": start, "after": "2025-01-01T10:30:00Z", "count": 1});
        batch("next", &[asked])
    };
    assert_eq!(every("fixed", "2025-01-01T00:00:00Z")[0], json!({"next": ["2025-01-01T12:00:00Z"]}));
    assert_eq!(every("last_start", "2025-01-01T00:00:00Z")[0], json!({"next": ["2025-01-01T12:30:00Z"]}));
}

#[test]
fn intervals_and_one_shots_are_specs_too() {
    check(
        "next",
        json!({"every": 90, "after": "2025-01-01T00:00:00Z", "count": 2}),
        &json!({"next": ["2025-01-01T00:01:30Z", "2025-01-01T00:03:00Z"]}),
    );
    check(
        "next",
        json!({"at": "2025-06-01T09:00", "tz": "Europe/Berlin", "after": "2025-01-01"}),
        &json!({"next": ["2025-06-01T09:00:00+02:00"]}),
    );
    check("next", json!({"at": "2025-06-01T09:00", "after": "2026-01-01"}), &json!({"next": []}));
}

#[test]
fn prev_goes_backwards() {
    check(
        "prev",
        json!({"expr": "0 9 * * 1-5", "before": "2025-01-06T09:00:00Z", "count": 2}),
        &json!({"prev": ["2025-01-03T09:00:00Z", "2025-01-02T09:00:00Z"]}),
    );
}

#[test]
fn a_line_that_cannot_be_answered_keeps_its_place() {
    let answers = batch(
        "next",
        &[
            json!({"expr": "*/15 * * * *", "dialect": "posix"}),
            json!({"expr": "0 0 30 2 *"}),
            json!({"expr": "0 0 * * *", "every": "5m"}),
            json!({"colour": "red"}),
            json!({"expr": "0 0 * * *", "tz": "Nowhere"}),
            json!({"expr": "0 0 * * *", "after": "2025-01-01", "count": 1}),
        ],
    );
    let codes: Vec<&Value> = answers[..5].iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, ["not_posix", "never_fires", "several_specs", "invalid_json", "unknown_zone"]);
    assert_eq!(answers[0]["error"]["hint"], "write `0,15,30,45`, or choose the dialect `standard`");
    assert_eq!(answers[5], json!({"next": ["2025-01-02T00:00:00Z"]}));
}

#[test]
fn a_line_beyond_the_limit_is_refused_and_the_next_one_answered() {
    let long = format!(
        "{{\"expr\":\"{}\"}}\n{{\"expr\":\"@daily\",\"after\":\"2025-01-01\",\"count\":1}}\n",
        "x".repeat(200_000)
    );
    let (code, stdout, _) = punctual(&["spec", "next", "--batch", "-"], &long);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!((code, lines.len()), (Some(0), 2));
    assert!(lines[0].contains("line_too_long"), "{}", lines[0]);
    assert_eq!(lines[1], "{\"next\":[\"2025-01-02T00:00:00Z\"]}");
}

#[test]
fn a_batch_stands_beside_the_environment_but_not_beside_flags() {
    let program = env!("CARGO_BIN_EXE_punctual");
    let asked = |arguments: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(["spec", "next", "--batch", "/dev/null"])
            .args(arguments)
            .env("DATABASE_URL", "elsewhere.db");
        command.output().expect("the program starts").status.code()
    };
    assert_eq!(asked(&[]), Some(0));
    assert_eq!(asked(&["--json"]), Some(0));
    assert_eq!(asked(&["--tz", "UTC"]), Some(2));
}

#[test]
fn local_is_the_zone_of_the_host() {
    let asked = |zone: &str| {
        let line =
            ["spec", "next", "0 0 * * *", "--tz", "local", "--after", "2025-01-01T12:00:00Z", "--count", "1"];
        let output = Command::new(env!("CARGO_BIN_EXE_punctual")).args(line).env("TZ", zone).output();
        String::from_utf8(output.expect("the program starts").stdout).expect("text")
    };
    assert_eq!(asked("Asia/Tokyo"), "{\"next\":[\"2025-01-02T00:00:00+09:00\"]}\n");
    assert_eq!(asked("Europe/Paris"), "{\"next\":[\"2025-01-02T00:00:00+01:00\"]}\n");
}

#[test]
fn english_is_read_and_what_was_assumed_is_said() {
    check(
        "parse",
        json!({"text": "every weekday at 9am EST", "now": "2026-11-15T08:00:00Z"}),
        &json!({
            "cron": "0 9 * * 1-5",
            "timezone": "America/New_York",
            "assumed": ["`EST` is read as America/New_York"],
            "describe": "Every weekday at 09:00, America/New_York time",
        }),
    );
    check(
        "parse",
        json!({"text": "tomorrow at 8am", "tz": "Europe/Berlin", "now": "2026-11-15T08:00:00Z"}),
        &json!({"at": "2026-11-16T08:00:00+01:00", "describe": "Once on Monday 16 November 2026 at 08:00, Europe/Berlin time"}),
    );
    let refused = batch("parse", &[json!({"text": "every blue moon"})]);
    assert!(refused[0]["error"]["hint"].is_string(), "{}", refused[0]);
}

#[test]
fn validate_and_explain_answer_by_flags() {
    let line = ["spec", "validate", "0 9 * * 1-5", "--after", "2025-01-06T10:00:00Z"];
    let answer: Value = serde_json::from_str(&punctual(&line, "").1).expect("JSON");
    assert_eq!(answer["next"][0], "2025-01-07T09:00:00Z");
    let line = ["spec", "explain", "0 9 * * 1-5", "--at", "2025-01-05T09:00:00Z"];
    let answer: Value = serde_json::from_str(&punctual(&line, "").1).expect("JSON");
    assert_eq!(answer["matches"], false);
    let failed = answer["checks"].as_array().expect("a list").iter().find(|check| check["holds"] == false);
    assert_eq!(failed.expect("a reason")["text"], "day-of-week sunday is not in `1-5`");
    let (code, _, said) = punctual(&["spec", "validate", "61 * * * *"], "");
    assert_eq!(code, Some(4));
    assert!(said.starts_with("error: ") && said.contains("\nhint: "), "{said}");
}
