//! Settings come from where they were said, and a server takes new ones when it is told to.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::driver::{Person, Serving};
use crate::live::{each_second, until};

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
        &["--webhook-proxy", "http://ada:key@proxy.internal"],
        "error: `http://ada:key@proxy.internal` cannot be `webhook_proxy` (flag --webhook-proxy)\nhint: write `http://HOST:PORT`",
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

/// A server, the file of its settings, and SIGHUP.
struct Told {
    serving: Serving,
    file: PathBuf,
}

impl Told {
    fn start(person: &Person, line: &[&str], settings: &str) -> Self {
        let file = person.home().join("settings.yaml");
        std::fs::write(&file, settings).expect("written");
        let path = file.display().to_string();
        Self { serving: person.serve_in_home(&[&["--settings", &path], line].concat()), file }
    }

    /// Writes other settings and tells the server to read them.
    fn now(&self, settings: &str) {
        std::fs::write(&self.file, settings).expect("written");
        let sent = Command::new("kill").args(["-HUP", &self.serving.id()]).status().expect("kill exists");
        assert!(sent.success());
    }
}

#[test]
fn a_server_that_is_told_to_reload_takes_every_setting_and_names_what_stays() {
    let person = Person::new();
    let mut told = Told::start(&person, &[], "settings: {tick_ms: 700, log_level: info}");
    told.now(
        "settings: {tick_ms: 800, lookahead_ms: 5000, max_catchup_per_tick: 7, default_overlap_policy: queue, \
         default_catchup_policy: run_all, default_jitter_ms: 5, keep_runs: 7d, keep_runs_per_schedule: 10, \
         keep_failures: 8d, keep_audit: 9d, log_level: debug, workflow_executor: 'https://example.com/run', \
         allow_private_targets: yes, webhook_proxy: 'http://proxy.internal:3128'}",
    );
    let mut reloaded = Vec::new();
    let fixed = loop {
        let line = told.serving.wait_for("\"message\"");
        let fields = &line["fields"];
        if fields["message"] == "reloaded" {
            reloaded.push(fields["setting"].as_str().expect("a name").to_owned());
        }
        if let Some(fixed) = fields["fixed"].as_str() {
            break fixed.to_owned();
        }
    };
    assert_eq!(fixed, "database, org_id, user_id, node, listen, http_programs, metrics_access");
    let all: Vec<&str> = punctual::SETTINGS.iter().map(|setting| setting.name).collect();
    // The form of the log is a flag of this server, which counts before its file.
    let is_reloaded = |name: &&str| *name != "log_format" && !fixed.split(", ").any(|fixed| fixed == *name);
    assert_eq!(reloaded, all.iter().copied().filter(is_reloaded).collect::<Vec<_>>());
    told.now("settings: {tick_ms: never}");
    told.serving.wait_for("the old ones stay");
    told.serving.stop();
}

#[test]
fn a_reloaded_lookahead_retention_and_level_take_effect() {
    let person = Person::new();
    each_second(&person, "tick", &["true"]);
    let quiet = "settings: {lookahead_ms: 3000, tick_ms: 60000, log_level: info";
    let mut told = Told::start(&person, &[], &format!("{quiet}}}"));
    let done = |id: u64| {
        until(&person, "tick", |run| {
            run["status"] == "success"
                && run["id"].as_str().is_some_and(|own| own["run-".len()..].parse::<u64>().unwrap_or(0) >= id)
        })
    };
    done(8);
    let ahead = || {
        let until = (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(600)).to_string();
        let line = ["runs", "tick", "--status", "scheduled", "--limit", "1000", "--until", &until];
        person.json(&line)["runs"].as_array().expect("a list").len()
    };
    // A schedule is created with a minute of ticks; those go by before the short lookahead counts.
    let kept = || {
        let rows = person.json(&["runs", "tick", "--limit", "1000"]);
        (rows["runs"].as_array().expect("a list").len(), rows["ranges"].as_array().expect("a list").len())
    };
    assert_eq!(kept().1, 0);
    let before = ahead();
    told.now("settings: {lookahead_ms: 600000, keep_runs_per_schedule: 3, log_level: debug}");
    // Only a server that logs more says what it planned, and what retention took.
    told.serving.wait_for("\"message\":\"retention\"");
    while ahead() < before + 300 {
        std::thread::yield_now();
    }
    assert!(kept().1 > 0, "{:?}", kept());
    told.now(&format!("{quiet}, keep_runs_per_schedule: 1000, log_format: text}}"));
    told.serving.wait_for("stay as they are until a restart");
    told.serving.stop();
}

#[test]
fn one_file_may_have_every_setting_beside_its_schedules() {
    let person = Person::new();
    let file = person.home().join("jobs.yaml");
    let said = |text: &'static str| if text.is_empty() { "''" } else { text };
    let named =
        punctual::SETTINGS.iter().map(|setting| format!("{}: {}", setting.name, said(setting.default)));
    let text = format!("settings: {{{}}}\nschedules: []\n", named.collect::<Vec<_>>().join(", "));
    std::fs::write(&file, &text).expect("written");
    person.serve_in_home(&["--config", "jobs.yaml"]).stop();
    std::fs::write(&file, text.replace("30d", "soon")).expect("written");
    let output = person.run(&["plan", &file.display().to_string()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.contains("`soon` cannot be `keep_runs`\n") && said.contains("hint: write a length"),
        "{said}"
    );
}

#[test]
fn a_reloaded_form_of_the_log_takes_effect() {
    let person = Person::new();
    let file = person.home().join("settings.yaml");
    std::fs::write(&file, "settings: {log_format: json}").expect("written");
    let path = file.display().to_string();
    let mut command = person.command(&["serve", "--settings", &path]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut log = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut greeting = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(greeting.by_ref().any(|line| line.is_ok_and(|line| line.starts_with("ready in "))));
    let id = child.id().to_string();
    let mut told = |text: &str, form: &str| {
        std::fs::write(&file, format!("settings: {{log_format: {form}}}")).expect("written");
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("kill exists").success());
        log.find(|line| line.contains(text)).expect("it goes on")
    };
    let said = told("until a restart", "text");
    assert!(!said.starts_with('{') && said.contains("fixed=database"), "{said}");
    let said = told("until a restart", "json");
    assert!(said.starts_with('{'), "{said}");
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill exists").success());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn reloaded_default_policies_count_for_the_schedules_of_the_servers_file() {
    let person = Person::new();
    let config = person.home().join("jobs.yaml");
    let text = "settings: {default_catchup_policy: run_all}\n\
                schedules: [{name: a, cron: '@daily', target: {type: process, argv: ['true']}}]";
    std::fs::write(&config, text).expect("written");
    let policy = || {
        let exported = person.json(&["export", "--json"]);
        let one = exported["schedules"][0].clone();
        (one["if_running"].as_str().map(str::to_owned), one["catch_up"].as_str().map(str::to_owned))
    };
    let line = ["--config", "jobs.yaml", "--default-catchup-policy", "run_once"];
    let mut told = Told::start(&person, &line, "settings: {default_overlap_policy: queue}");
    told.serving.wait_for("the file is applied");
    assert_eq!(
        policy(),
        (Some("queue".to_owned()), Some("run_once".to_owned())),
        "a flag counts before a file"
    );
    told.now("settings: {default_overlap_policy: allow}");
    told.serving.wait_for("the file is applied");
    assert_eq!(policy().0.as_deref(), Some("allow"));
    told.serving.stop();
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
