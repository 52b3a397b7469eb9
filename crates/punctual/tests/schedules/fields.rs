//! Goal: every field has its flag on `create` and on `update`, and each does what it says.
//! Method: the program on a file; what a schedule is afterwards is read from `export`, which leaves out what is usual.

use serde_json::{Value, json};

use crate::place::Place;

fn exported(place: &Place, name: &str) -> Value {
    let file = place.json("export --json");
    let found = file["schedules"].as_array().expect("a list").iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {file}")).clone()
}

#[test]
fn what_a_program_may_do_and_when_its_target_is_left_alone_have_flags() {
    let place = Place::sqlite();
    let flags = "--user nobody --nice -5 --kill-after 9s --limit-memory 512MiB --limit-cpu-seconds 60 \
                 --limit-open-files 64 --limit-processes 8 --limit-file-size 1MiB \
                 --circuit-breaker-threshold 2 --circuit-breaker-reset-after 30s --target-name shared";
    place.json(&format!("schedule create --name a --every 1h --anchor-at 2026-01-01T00:30Z {flags} -- true"));
    let target = json!({
        "type": "process", "argv": ["true"], "user": "nobody", "nice": -5, "kill_after": "9s", "name": "shared",
        "limits": {
            "memory": 512 * 1024 * 1024, "cpu_seconds": 60, "open_files": 64, "processes": 8,
            "file_size": 1024 * 1024,
        },
        "circuit_breaker": {"threshold": 2, "reset_after": "30s"},
    });
    let one = exported(&place, "a");
    assert_eq!(one["target"], target);
    assert_eq!(one["anchor_at"], "2026-01-01T00:30:00Z");
    // An update changes what is named and leaves the rest, also below a key.
    place.json("schedule update --name a --circuit-breaker-threshold 7 --limit-memory none");
    let mut changed = target.clone();
    changed["circuit_breaker"]["threshold"] = json!(7);
    changed["limits"].as_object_mut().expect("keys").shift_remove("memory");
    assert_eq!(exported(&place, "a")["target"], changed);
    place.json("schedule create --name q --cron @daily --queue work --circuit-breaker-threshold 3");
    let target = json!({"type": "queue", "queue": "work", "circuit_breaker": {"threshold": 3}});
    assert_eq!(exported(&place, "q")["target"], target);
    let (code, said) = place.refused("schedule create --name x --cron @daily --circuit-breaker-threshold 3");
    assert_eq!(code, 4, "{said}");
    assert!(
        said.starts_with("error: `--circuit-breaker-threshold` belongs to a target, and none is given"),
        "{said}"
    );
    let (code, said) = place.refused("schedule update --name a --circuit-breaker-threshold 0");
    assert!(code == 4 && said.starts_with("error: --circuit-breaker-threshold: "), "{said}");
}

#[test]
fn a_schedule_is_enabled_or_disabled_together_with_other_changes() {
    let place = Place::sqlite();
    let status = |line: &str| {
        let one = place.json(line)["schedule"].clone();
        (
            one["status"].as_str().expect("a status").to_owned(),
            one["version"].clone(),
            one["next_run_at"].clone(),
        )
    };
    let create = "schedule create --name a --cron @daily";
    assert_eq!(status(&format!("{create} --disabled -- true")).0, "paused_manual");
    let (now, version, next) = status("schedule update --name a --enabled --grace 5s");
    assert_eq!((now.as_str(), version), ("active", json!(2)));
    assert!(next.is_string(), "{next}");
    let would = place.json("schedule update --name a --disabled --cron @hourly --dry-run");
    assert_eq!((would["before"].as_array().map(Vec::len), &would["after"]), (Some(5), &json!([])));
    let (now, version, next) = status("schedule update --name a --disabled --cron @hourly");
    assert_eq!((now.as_str(), version, next), ("paused_manual", json!(3), Value::Null));
    assert_eq!(status("schedule update --name a --enabled").0, "active");
    assert_eq!(status("schedule update --name a --disabled").0, "paused_manual");
    assert_eq!(place.json("schedule update --name a --disabled")["changed"], false);
    let (code, said) = place.refused("schedule update --name a --disabled --enabled");
    assert_eq!(code, 2, "{said}");
    let proved = place.json("audit a");
    assert_eq!(proved["audits"][0]["holes"], json!([]), "{proved}");
}

#[test]
fn a_request_offers_only_what_it_takes() {
    let place = Place::sqlite();
    let help = place.said("punctual request create --help");
    for flag in ["--cron", "--every", "--webhook", "--env", "--grace", "--jitter", "ARGV"] {
        assert!(!help.contains(flag), "{flag}:\n{help}");
    }
    let line = "request create --queue q --worker-type w --prompt p --repo-url u --branch b --context '{\"a\":1}' \
                --config '{\"b\":2}' --payload '{\"c\":3}' --description d --run-timeout 5m --retry-after 10s \
                --delivery at_most_once";
    let made = place.json(line);
    let runs = place.json("runs --all");
    assert_eq!(runs["runs"][0]["id"], made["run_id"], "{runs}");
    assert_eq!(runs["runs"], place.json("runs")["runs"]);
    let (code, said) = place.refused("runs --all a");
    assert_eq!(code, 2, "{said}");
}

#[test]
fn completions_know_the_names_of_schedules() {
    let place = Place::sqlite();
    for name in ["backup", "bakery", "other"] {
        place.json(&format!("schedule create --name {name} --cron @daily -- true"));
    }
    let completed = |words: &str, at: u32| {
        let line = format!(
            "source <(punctual completions bash); COMP_WORDS=({words}); COMP_CWORD={at}; \
             _punctual_with_names punctual; echo \"${{COMPREPLY[@]}}\""
        );
        place.said(&line)
    };
    assert_eq!(completed("punctual schedule get --name ba", 4), "backup bakery\n");
    assert_eq!(completed("punctual runs bac", 2), "backup\n");
    assert_eq!(completed("punctual why oth", 2), "other\n");
    let shells = place.said("punctual completions fish; punctual completions zsh");
    assert!(shells.matches("punctual complete names").count() >= 3, "{shells}");
}

#[test]
fn a_word_that_is_meant_for_a_shell_and_words_of_the_table_are_understood() {
    let place = Place::sqlite();
    let made = place.shell("punctual schedule create --name a --cron @daily -- 'echo hi && ls'");
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(said.contains("note: `echo hi && ls` is one word, the name of a program"), "{said}");
    place.json("schedule create --name b --cron @daily --disabled -- true");
    let listed = |status: &str| {
        let found = place.json(&format!("schedule list --status {status}"));
        found["schedules"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["name"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!((listed("enabled"), listed("disabled")), (vec![json!("a")], vec![json!("b")]));
    let why = place.json("why a --at now").to_string();
    assert!(why.contains("is not a tick of `@daily`") || why.contains("comes after it"), "{why}");
    let (code, said) = place.refused("schedule delete a");
    assert_eq!(code, 2);
    assert!(said.ends_with("hint: name the schedule with `--name a`\n"), "{said}");
}
