//! Settings come from where they were said, and a server takes what it can.

use std::process::Command;

use serde_json::Value;

use crate::driver::Person;

fn shown(person: &Person, line: &[&str], variables: &[(&str, &str)]) -> Value {
    let mut command = person.command(&[&["config", "show"], line].concat());
    let output = command.envs(variables.iter().copied()).env("XDG_CONFIG_HOME", person.home()).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Value>(&output.stdout).expect("JSON")["settings"].clone()
}

#[test]
fn a_flag_counts_before_the_environment_that_before_the_file_that_before_the_default() {
    let person = Person::new();
    let check = |line: &[&str], variables: &[(&str, &str)], expected: (i64, &str)| {
        let found = shown(&person, line, variables);
        assert_eq!(
            (&found["tick_ms"]["value"], &found["tick_ms"]["source"]),
            (&expected.0.into(), &expected.1.into())
        );
    };
    check(&[], &[], (1_000, "default"));
    let folder = person.home().join("punctual");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("punctual.yaml"), "settings:\n  tick_ms: 700\n  keep_runs: 7d\n")
        .expect("written");
    check(&[], &[], (700, "file"));
    check(&[], &[("PUNCTUAL_TICK_MS", "500")], (500, "environment"));
    check(&["--tick-ms", "300"], &[("PUNCTUAL_TICK_MS", "500")], (300, "flag"));
    let all = shown(&person, &[], &[("PUNCTUAL_DEFAULT_CATCHUP_POLICY", "run_all_capped")]);
    assert_eq!((&all["keep_runs"]["value"], &all["keep_runs"]["source"]), (&"7d".into(), &"file".into()));
    assert_eq!(all["default_catchup_policy"]["value"], "run_all_capped");
    assert_eq!(all["lookahead_ms"]["value"], 60_000);
    let allowed = |line: &[&str]| shown(&person, line, &[])["allow_private_targets"]["value"].clone();
    assert_eq!((allowed(&[]), allowed(&["--allow-private-targets"])), ("no".into(), "yes".into()));
    let settings = "settings: {allow_private_targets: [10.0.0.0/8, hooks.internal]}";
    std::fs::write(folder.join("punctual.yaml"), settings).expect("written");
    assert_eq!(allowed(&[]), "10.0.0.0/8, hooks.internal");
}

#[test]
fn a_value_that_cannot_be_meant_is_refused_wherever_it_stands() {
    let person = Person::new();
    let file = person.home().join("s.yaml");
    let check = |text: &str, line: &[&str], said: &str| {
        std::fs::write(&file, text).expect("written");
        let path = file.display().to_string();
        for verb in [&["config", "show"][..], &["serve"]] {
            let output = person.run(&[verb, &["--settings", &path], line].concat());
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(4), "{error}");
            assert!(error.replace(&path, "s.yaml").starts_with(said), "{error}");
        }
    };
    check(
        "",
        &["--allow-private-targets", "10.0.0.0/99"],
        "error: `10.0.0.0/99` cannot be `allow_private_targets` (flag --allow-private-targets)\nhint: write `no`, `yes`",
    );
    check(
        "",
        &["--tick-ms", "0"],
        "error: `0` cannot be `tick_ms` (flag --tick-ms)\nhint: write a whole number from 1",
    );
    check(
        "settings: {lookahead_ms: 4000000}",
        &[],
        "error: `4000000` cannot be `lookahead_ms` (file s.yaml)",
    );
    check("settings: {tick_ms: x}", &["--tick-ms", "5"], "error: `x` cannot be `tick_ms` (file s.yaml)");
    check("settings: {keep_runs: soon}", &[], "error: `soon` cannot be `keep_runs`");
    check(
        "settings: {tik_ms: 5}",
        &[],
        "error: s.yaml: `tik_ms` is no setting\nhint: did you mean `tick_ms`?",
    );
    check("settings: [1]", &[], "error: s.yaml: `settings` is no list of settings");
}

#[test]
fn a_server_that_is_told_to_reload_takes_what_it_can_and_says_what_it_cannot() {
    let person = Person::new();
    let folder = person.home().join("config/punctual");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("punctual.yaml");
    std::fs::write(&file, "settings: {tick_ms: 700, log_level: info}").expect("written");
    let mut serving =
        person.serve_with(&[("XDG_CONFIG_HOME", person.home().join("config").display().to_string())]);
    let hang_up = |serving: &crate::driver::Serving| {
        let sent = Command::new("kill").args(["-HUP", &serving.id()]).status().expect("kill exists");
        assert!(sent.success());
    };
    std::fs::write(&file, "settings: {tick_ms: 800, log_level: debug}").expect("written");
    hang_up(&serving);
    assert!(serving.wait_for("takes effect after a restart").to_string().contains("tick_ms"));
    assert!(serving.wait_for("\"reloaded\"").to_string().contains("log_level"));
    std::fs::write(&file, "settings: {tick_ms: never}").expect("written");
    hang_up(&serving);
    serving.wait_for("the old ones stay");
    serving.stop();
}

#[test]
fn a_schedule_that_does_not_say_takes_the_policies_of_the_settings() {
    let person = Person::new();
    let create = |name: &str, policy: &str| {
        let line = ["schedule", "create", "--name", name, "--cron", "@daily", "--", "true"];
        let mut command = person.command(&line);
        command.env("PUNCTUAL_DEFAULT_OVERLAP_POLICY", policy).env("XDG_CONFIG_HOME", person.home());
        command.output().expect("the program starts").status.code()
    };
    assert_eq!((create("a", "queue"), create("b", "sometimes")), (Some(0), Some(4)));
    let why = person.json(&["why", "a", "--at", "2100-01-01T00:00Z"]).to_string();
    assert!(why.contains("`if_running: queue`"), "{why}");
}
