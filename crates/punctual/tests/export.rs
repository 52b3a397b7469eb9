//! Goal: a stored definition can always be written down as keys and read again as the same definition.
//! Method: random keys of every kind are read, exported and read again, at another time; plugins and templates of files
//! as well. What is not given by keys (the time of creation, where it does not count) is taken over.

use jiff::{SignedDuration, Timestamp};
use punctual::declare::{self, Ground, export, read_keys};
use punctual_plan::{Schedule, ScheduleId, When};
use punctual_time::{Calendar, Spec, Zone};
use serde_json::{Map, Value, json};

/// The same numbers in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("small")
    }

    fn pick(&mut self, values: &[Value]) -> Value {
        values[self.roll(values.len())].clone()
    }
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn ground() -> Ground {
    let mut ground = Ground::alone(at("2026-11-15T08:00:00.123456Z"));
    ground.is_kept = true;
    ground.id = Some(ScheduleId("0f8fad5b-d9cb-469f-a165-70867728950e".parse().expect("an id")));
    for name in ["upstream", "other one"] {
        ground.names.insert(name.to_owned(), ScheduleId::of_name("acme", name));
    }
    let date = |text: &str| text.parse().expect("a date");
    ground.calendars.push(Calendar::new("holidays", [date("2026-12-25")]));
    ground.calendars.push(Calendar::new("fairs", [date("2027-01-06"), date("2027-02-01")]));
    let quiet = "quiet_hours: {nights: {during: '22:00-06:00', on: [monday]}, lunch: {during: '12:00-13:00', timezone: Asia/Tokyo}}";
    ground.quiet_hours = declare::read_text("q.yaml", quiet, ground.now).expect("quiet hours").quiet_hours;
    let template =
        json!({"retry_after": "${wait}", "tags": ["made", "of a template"], "payload": {"from": "${who}"}});
    ground.templates.insert("t".to_owned(), template);
    ground
}

/// Keys that may stand beside each other, with values of every kind.
fn optional() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("description", vec![json!("what it is for")]),
        ("tags", vec![json!(["a"]), json!(["b", "c d"])]),
        ("timezone", vec![json!("UTC"), json!("America/New_York"), json!("Australia/Lord_Howe")]),
        ("end_at", vec![json!("2031-01-01T00:00:00Z"), json!("2032-02-03T04:05")]),
        ("max_runs", vec![json!(1), json!(1_000_000)]),
        ("only_between", vec![json!("08:00-18:00"), json!("22:00-06:30")]),
        ("not_on", vec![json!(["saturday"]), json!([0, 6, "holidays"]), json!(["fairs", "holidays"])]),
        ("quiet_hours", vec![json!("nights"), json!(["lunch", "nights"])]),
        ("if_running", vec![json!("skip"), json!("allow"), json!("queue"), json!("cancel")]),
        ("catch_up", vec![json!("none"), json!("run_once"), json!("run_all_capped"), json!("spread")]),
        ("max_catch_up", vec![json!(100), json!(7)]),
        ("missed_audit_max", vec![json!(0), json!(100)]),
        ("grace", vec![json!("60s"), json!(0), json!("250ms"), json!("36h")]),
        ("start_deadline", vec![json!("90s"), json!(5)]),
        (
            "jitter",
            vec![json!("30s"), json!({"max": "1m", "mode": "around"}), json!({"max": 0, "mode": "around"})],
        ),
        (
            "launch",
            vec![json!({"attempts": 1}), json!({"delay": "1500ms"}), json!({"attempts": 3, "delay": "1s"})],
        ),
        ("retry_after", vec![json!("10m"), json!("1d")]),
        ("run_timeout", vec![json!("1h"), json!("45m")]),
        ("max_consecutive_failures", vec![json!(0), json!(5), json!(9)]),
        ("delivery", vec![json!("at_least_once"), json!("at_most_once")]),
        ("guard", vec![json!("one at a time")]),
        ("lane", vec![json!("plugin/command"), json!("x")]),
        ("depends_on", vec![json!("upstream"), json!(["other one", "upstream"])]),
        ("payload", vec![json!({"a": [1, null, {"b": 2.5}]})]),
    ]
}

fn whens() -> Vec<Value> {
    vec![
        json!({"cron": "0 9 * * 1-5"}),
        json!({"cron": "H H(0-7) * * *"}),
        json!({"cron": "@daily"}),
        json!({"cron": "*/5 * * * * *"}),
        json!({"cron": "0 0 12 ? * MON 2026-2040", "dialect": "quartz"}),
        json!({"cron": "5 4 * * *", "dialect": "posix", "dst": {"gap": "skip", "fold": "both"}}),
        json!({"cron": "0 0 L * *", "dst": {"fold": "last"}}),
        json!({"every": "90s"}),
        json!({"every": 300, "anchor": "last_start"}),
        json!({"every": "2 weeks", "anchor": "last_finish", "start_at": "2026-11-16T09:00"}),
        json!({"every": "monthly", "start_at": "2026-11-30T00:00:00Z"}),
        json!({"every": "1d", "anchor_at": "2020-01-01T00:00:00.5Z"}),
        json!({"at": "2027-06-24T18:00"}),
        json!({"at": "2027-06-24T18:00:00+02:00"}),
        json!({"after": "20m"}),
        json!({"schedule": "every weekday at 9am"}),
        json!({"schedule": "every 45 minutes"}),
        json!({"schedule": "every other friday at noon"}),
        json!({"schedule": "tomorrow at 8am"}),
        json!({"schedule": "in 20 minutes"}),
        json!({"schedule": "every day at 6 until 1 June"}),
        json!({"schedule": "last weekday of the month at 17:00"}),
        json!({"schedule": "every day at 7:30 except holidays"}),
        json!({"on": {"schedule": "upstream"}}),
        json!({"on": {"schedule": "other one", "outcome": "finish", "delay": "90s"}}),
        json!({"on": {"schedule": "upstream", "outcome": "failure"}, "start_at": "2026-11-30T00:00:00Z"}),
    ]
}

fn targets() -> Vec<Value> {
    vec![
        json!({"type": "process", "argv": ["echo", "a b", ""]}),
        json!({"type": "process", "argv": ["x"], "user": "nobody", "limits": {"memory": "512M", "processes": 9}, "nice": 5, "kill_after": "10s"}),
        json!({"type": "process", "argv": ["x"], "env": {"A": "1"}, "cwd": "/tmp", "name": "shared"}),
        json!({"type": "queue", "queue": "q"}),
        json!({"type": "queue", "queue": "q", "worker_type": "w", "prompt": "p\nq", "repo_url": "r", "branch": "b",
               "context": {"k": 1}, "config": {"m": "x"}, "circuit_breaker": {"threshold": 2, "reset_after": "90s"}}),
        json!({"type": "webhook", "url": "https://a.example", "method": "PUT", "headers": {"X": "y"}, "body": "b",
               "secret": "s", "cloud_events": "structured"}),
        json!({"type": "webhook", "url": "http://a.example"}),
        json!({"type": "webhook", "url": "https://a.example", "secret": ["s", "${env:OLD}"], "timeout": "3s", "connect_timeout": "500ms",
               "redirects": 0, "client_certificate": "${file:/c}", "client_key": "${secret:k}", "ca_certificate": "${file:/a}"}),
        json!({"type": "message", "message": {"text": "hello"}}),
        json!({"type": "workflow", "workflow_id": "w", "version": 3, "circuit_breaker": {"reset_after": 1}}),
    ]
}

fn names(id: ScheduleId) -> Option<String> {
    ["upstream", "other one"]
        .map(str::to_owned)
        .into_iter()
        .find(|name| ScheduleId::of_name("acme", name) == id)
}

/// Where the creation is the origin of nothing, its time is not part of what keys say.
fn created_alike(mut one: Schedule, other: &Schedule) -> Schedule {
    if let (When::Ticks(timing), Some(other)) = (&mut one.when, other.when.timing()) {
        let is_origin = matches!(timing.spec, Spec::Every(_)) && timing.bounds.start_at.is_none();
        if !is_origin {
            timing.created_at = other.created_at;
        }
    }
    one
}

fn read(keys: &Map<String, Value>, ground: &Ground) -> Result<Schedule, String> {
    let read = read_keys(keys, ground, &|key| key.to_owned());
    read.map(|schedule| schedule.definition).map_err(|failure| failure.to_string())
}

#[test]
fn what_is_exported_is_read_as_the_same_definition() {
    let (mut dice, mut ground) = (Dice(20_261_115), ground());
    let (now, whens, targets, optional) = (ground.now, whens(), targets(), optional());
    let mut is_read = vec![0; whens.len()];
    for _ in 0..2_000 {
        let place = dice.roll(whens.len());
        let mut keys = Map::new();
        keys.insert("name".to_owned(), json!("a name/of it"));
        keys.extend(whens[place].as_object().expect("keys").clone());
        keys.insert("target".to_owned(), targets[dice.roll(targets.len())].clone());
        for (key, values) in &optional {
            if dice.roll(3) == 0 {
                keys.insert((*key).to_owned(), dice.pick(values));
            }
        }
        if keys.contains_key("depends_on") && dice.roll(2) == 0 {
            keys.insert("depends_timeout".to_owned(), json!("2h"));
        }
        if dice.roll(8) == 0 && !keys.contains_key("tags") {
            keys.insert("template".to_owned(), json!("t"));
            keys.insert("set".to_owned(), json!({"wait": "5m", "who": {"x": dice.roll(9)}}));
        }
        ground.now = now;
        // Some cannot be meant together, such as a window in which the one instant does not lie.
        let Ok(first) = read(&keys, &ground) else { continue };
        is_read[place] += 1;
        let exported = export(&first, &names);
        ground.now = now.saturating_add(SignedDuration::from_hours(24 * 500)).expect("an instant");
        let again = read(&exported, &ground).unwrap_or_else(|said| panic!("{keys:?}\n{exported:?}\n{said}"));
        assert_eq!(created_alike(again.clone(), &first), first, "{keys:?}\n{exported:?}");
        assert_eq!(export(&again, &names).get("name"), exported.get("name"));
    }
    let unread: Vec<&Value> =
        whens.iter().zip(&is_read).filter(|(_, count)| **count < 5).map(|(when, _)| when).collect();
    assert!(unread.is_empty(), "hardly ever read: {unread:?}");
}

#[test]
fn the_schedules_of_plugins_are_exported_as_schedules_of_their_own() {
    let text = "plugins:\n  feed:\n    run: [feeds, -v]\n    circuit_breaker: {threshold: 2}\n    \
        commands: {clean: {payload: {deep: true}}}\n    schedules:\n    - {every: 5m}\n    \
        - {id: late, command: clean, cron: 0 3 * * *, if_running: queue, payload: {a: 1}}\n";
    let now = at("2026-11-15T08:00:00Z");
    let declared = declare::read_text("p.yaml", text, now).expect("plugins");
    for schedule in &declared.schedules {
        let keys = export(&schedule.definition, &|_| None);
        let again = read(&keys, &Ground { id: Some(schedule.definition.id), ..Ground::alone(now) });
        assert_eq!(again.as_ref(), Ok(&schedule.definition), "{keys:?}");
    }
}

#[test]
fn a_text_that_means_another_time_each_day_is_kept_as_its_instant() {
    let keys = json!({"name": "a", "schedule": "tomorrow at 8am", "target": {"type": "queue", "queue": "q"}});
    let first = read(keys.as_object().expect("keys"), &ground()).expect("one schedule");
    assert_eq!(first.spec, "2026-11-16T08:00:00Z");
    assert_eq!(export(&first, &names)["at"], "2026-11-16T08:00:00Z");
    assert_eq!(first.when.timing().map(|timing| timing.zone.clone()), Some(Zone::utc()));
    let file = "schedules: [{name: a, schedule: tomorrow at 8am, target: {type: queue, queue: q}}]";
    assert!(declare::read_text("f.yaml", file, ground().now).is_err(), "a file is read again and again");
}

#[test]
fn problems_are_told_by_what_the_person_wrote() {
    let keys = json!({
        "name": "a", "cron": "61 * * * *", "every": "5m", "if_running": "sometimes", "depends_on": "upsteam",
        "launch": {"attempts": 0}, "target": {"type": "queue", "queue": "q"}, "grase": "5s"
    });
    let flag = |key: &str| format!("--{}", key.replace(['_', '.'], "-"));
    let failure = read_keys(keys.as_object().expect("keys"), &ground(), &flag).expect_err("several");
    assert_eq!(
        failure.to_string(),
        "error: --if-running: `sometimes` cannot be chosen here\n\
         hint: there are `skip`, `allow`, `queue` and `cancel`\n\
         error: --launch-attempts: `0` is too small\nhint: write at least `1`\n\
         error: --grase: `--grase` is not a key here\nhint: did you mean `--grace`?"
    );
    let keys =
        json!({"name": "a", "cron": "@daily", "every": "5m", "target": {"type": "queue", "queue": "q"}});
    let failure = read_keys(keys.as_object().expect("keys"), &ground(), &flag).expect_err("two ways");
    assert_eq!(
        failure.to_string(),
        "error: --cron: `--every` and `--cron` are set together\nhint: keep exactly one"
    );
    let keys =
        json!({"name": "a", "on": {"schedule": "upstraem"}, "target": {"type": "queue", "queue": "q"}});
    let failure = read_keys(keys.as_object().expect("keys"), &ground(), &flag).expect_err("nobody");
    assert_eq!(
        failure.to_string(),
        "error: --on-schedule: there is no schedule `upstraem`\nhint: did you mean `upstream`?"
    );
}

#[test]
fn h_is_the_same_in_a_file_and_in_a_database() {
    let now = at("2026-11-15T08:00:00Z");
    let file = "schedules: [{name: a, cron: H H * * *, target: {type: queue, queue: q}}]";
    let declared = declare::read_text("f.yaml", file, now).expect("a file");
    let keys = json!({"name": "a", "cron": "H H * * *", "target": {"type": "queue", "queue": "q"}});
    let alone = read(keys.as_object().expect("keys"), &Ground::alone(now)).expect("keys");
    assert_eq!(declared.schedules[0].definition, alone);
    let other = read(keys.as_object().expect("keys"), &ground()).expect("keys");
    assert_ne!(other.when, alone.when, "another id, another minute");
}
