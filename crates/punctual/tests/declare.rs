//! Goal: a file of schedules is read as it is meant, or refused with every place and what to write there.
//! Method: texts in, checked values or whole error texts out; the examples of the documentation as they stand.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use punctual::declare::{self, Declared};
use punctual_plan::{
    Action, CatchUp, Chain, ChainOn, Dependency, Jitter, JitterMode, Launch, OrgLimits, Overlap, Owner, Pace,
    Policy, Schedule, ScheduleId, When,
};
use punctual_time::Dialect;
use serde_json::json;

fn now() -> Timestamp {
    "2026-11-15T08:00:00Z".parse().expect("an instant")
}

fn read(text: &str) -> Declared {
    declare::read_text("jobs.yaml", text, now()).unwrap_or_else(|failure| panic!("{text}\n{failure}"))
}

fn refusal(text: &str) -> String {
    match declare::read_text("jobs.yaml", text, now()) {
        Ok(_) => panic!("this was read:\n{text}"),
        Err(failure) => failure.to_string(),
    }
}

/// A file with one schedule, whose keys are given.
fn one(keys: &str) -> String {
    format!(
        "schedules:\n- name: a\n  target: {{type: process, argv: [x]}}\n  {}\n",
        keys.replace('\n', "\n  ")
    )
}

/// Texts and their refusals, one under the other.
fn golden(texts: &[&str]) -> String {
    let told: Vec<String> = texts.iter().map(|text| format!("{text}\n----\n{}\n", refusal(text))).collect();
    told.join("\n====\n")
}

fn example(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples")).join(name)
}

fn schedule<'a>(declared: &'a Declared, name: &str) -> &'a Schedule {
    let mut definitions = declared.schedules.iter().map(|schedule| &schedule.definition);
    definitions.find(|definition| definition.name == name).expect("a schedule of that name")
}

#[test]
fn the_keys_of_a_file_are_refused_with_the_one_that_was_meant() {
    let told = golden(&[
        "schedule:\n- name: a\n",
        "schedules: 5\n",
        "schedules:\n",
        "[1, 2]\n",
        "schedules:\n- name: a\n  crom: 0 3 * * *\n  target: {type: process, argv: [x]}\n",
        "schedules:\n- cron: 0 3 * * *\n  target: {type: process, argv: [x]}\n",
        "schedules:\n- name: a\n  cron: 0 3 * * *\n",
        "settings: {timezone: Europe/Berln, tick_ms: 0, lookahead_ms: 3600001}\n",
        "quiet_hours: {n: {during: 22-06, on: [frday]}}\n",
        "calendars: {holidays: {dates: [2026-13-01, 2026-12-25]}, monday: {dates: []}}\n",
        "targets: {t: {type: proces, argv: [x]}}\n",
        "targets: {t: {argv: [x]}}\n",
        "targets: {t: {type: process, argv: []}, u: {type: webhook, url: ftp://x}, v: {type: queue}}\n",
        "targets: {t: {type: process, argv: [x], circuit_breaker: {treshold: 3, reset_after: soon}}}\n",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn the_time_of_a_schedule_is_refused_where_it_stands() {
    let texts = [
        one("enabled: true"),
        one("every: 5m\ncron: 0 3 * * *\nat: 2027-01-01T00:00"),
        one("cron: 61 * * * *"),
        one("cron: 0 0 30 2 *"),
        one("cron: '*/15 * * * *'\ndialect: posix"),
        one("every: wekly"),
        one("every: 500ms"),
        one("at: tomorrow"),
        one("after: soon"),
        one("schedule: every blue moon"),
        one("schedule: in 20 minutes"),
        one("schedule: every day at 9 EST\ntimezone: Europe/Berlin"),
        one("every: 5m\ntimezone: Mars/Base"),
        one("at: 2027-01-01T00:00\ndialect: posix\nanchor: fixed"),
        one("cron: 0 12 * * *\nonly_between: 20:00-06:00"),
        one("cron: 0 12 * * *\nstart_at: 2027-01-01T00:00\nend_at: 2026-01-01T00:00"),
        one("cron: 0 12 * * *\nnot_on: [holidays, satday]\nquiet_hours: nights"),
        format!("settings: {{min_interval: 1m}}\n{}", one("every: 30s")),
        one("cron: 0 3 * * *\ndst: {gap: jump}"),
        one("cron: 0 3 * * *\ndst: {}"),
    ];
    let told = golden(&texts.each_ref().map(String::as_str));
    insta::assert_snapshot!(told);
}

#[test]
fn policies_and_references_are_refused_where_they_stand() {
    let texts = [
        one("every: 5m\nif_running: skp\ncatch_up: allways"),
        one("every: 5m\ngrace: 1 month\nrun_timeout: long\njitter: {mode: around}"),
        one("every: 5m\nmax_catch_up: 0\nenabled: maybe\ntags: nightly\ndescription: 5"),
        one("every: 5m\ndepends_timeout: 5m"),
        one("every: 5m\ndepends_on: [b]"),
        one("on: {schedule: b}"),
        one("on: {schedule: a}"),
        one("every: 5m\ntemplate: nightly"),
        one("every: 5m\nset: {a: 1}"),
        "schedules:\n- {name: a, every: 5m, target: chat}\n- {name: a, every: 5m, target: {type: process, argv: [x]}}\n\
         - {name: a, every: 5m, target: {type: process, argv: [x]}}\ntargets: {chta: {type: process, argv: [x]}}\n"
            .to_owned(),
        "targets: {t: {type: process, argv: [x]}}\nschedules:\n- {name: a, every: 5m, target: t, depends_on: c}\n\
         - {name: b, on: {schedule: a}, target: t}\n- {name: c, every: 5m, target: t, depends_on: [b]}\n"
            .to_owned(),
        "templates:\n  t:\n    cron: 0 ${hour} * * *\n    target: {type: process, argv: [x, '${who}']}\nschedules:\n\
         - {name: a, template: t, set: {hour: 99, who: me}}\n- {name: b, template: t, set: {hour: 9, woh: me}}\n"
            .to_owned(),
        "plugins:\n  p:\n    schedules:\n    - {every: 5m}\n    - {id: g, every: 5m, guard: x}\n    - {every: 5m, at: 2027-01-01T00:00}\n    - {}\n    - {every: 1h}\n\
         \x20   commands: {pol: {payload: {}}}\n    run: []\n"
            .to_owned(),
    ];
    let told = golden(&texts.each_ref().map(String::as_str));
    insta::assert_snapshot!(told);
}

#[test]
fn what_is_not_yaml_is_refused_with_its_line() {
    let told = golden(&[
        "schedules:\n- name: a\n   cron: x\n",
        "schedules: [\n",
        "schedules: \"open\n",
        "settings: {timezone: UTC}\nsettings: {timezone: UTC}\n",
        "a: *nobody\n",
        "schedules:\n- name: a\n  cron: * * * * *\n",
        "settings: {timezone: UTC}\n---\nsettings: {timezone: UTC}\n",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn many_problems_are_bounded() {
    let items: String = (0..5000).map(|number| format!("- {{name: n{number}, evry: 5m}}\n")).collect();
    let said = refusal(&format!("schedules:\n{items}"));
    assert_eq!(said.matches("error: ").count(), 20, "{said}");
    assert!(said.ends_with("more were found; these come first"), "{said}");
}

#[test]
fn the_plugins_example_reads_as_it_stands() {
    let declared = declare::read(&example("plugins.yaml"), now()).expect("the example");
    let hourly = schedule(&declared, "example/hourly");
    assert_eq!(hourly.policy.guard.as_deref(), Some("example"));
    assert_eq!(hourly.policy.lane.as_deref(), Some("example/poll"));
    assert_eq!(hourly.policy.catch_up, CatchUp::RunOnce);
    assert_eq!(hourly.policy.jitter, Jitter { max: SignedDuration::from_secs(30), mode: JitterMode::After });
    assert_eq!(hourly.payload, *json!({"source": "scheduler"}).as_object().expect("an object"));
    let Action::Process(process) = &hourly.target.action else { panic!("{:?}", hourly.target) };
    assert_eq!(process.argv, ["plugins/example", "poll"]);
    let When::Ticks(timing) = &hourly.when else { panic!("{:?}", hourly.when) };
    assert_eq!(timing.zone.name(), "Australia/Sydney");
    assert_eq!(timing.windows.not_on.to_string(), "sunday, saturday");
}

#[test]
fn a_plugin_has_its_own_words_and_defaults() {
    let declared = read(
        "plugins:\n  p:\n    circuit_breaker: {threshold: 2}\n    run: [/bin/p, -v]\n    commands:\n      sync: {payload: {a: 1, b: 1}}\n    schedules:\n    - every: 5m\n      if_running: queue\n    - {id: s, command: sync, cron: 0 3 * * *, payload: {b: 2}, catch_up: run_all_capped}\n",
    );
    let poll = schedule(&declared, "p/default");
    assert_eq!(poll.policy.overlap, Overlap::Allow, "its queue enqueues whatever is in flight");
    assert_eq!(poll.target.breaker.threshold, 2);
    let sync = schedule(&declared, "p/s");
    assert_eq!(sync.policy.guard, None);
    assert_eq!(sync.policy.lane.as_deref(), Some("p/sync"));
    assert_eq!(sync.policy.catch_up, CatchUp::RunAll);
    assert_eq!(sync.payload, *json!({"a": 1, "b": 2}).as_object().expect("an object"));
    assert_eq!(sync.target.name, poll.target.name, "one breaker for the plugin");
}

#[test]
fn a_schedule_is_read_as_the_definition_that_the_plan_decides_by() {
    let declared = read(
        "settings: {org_id: acme, user_id: ada, limits: {schedules: 9, runs_per_minute: 99999999999}}\n\
         targets: {t: {type: process, argv: [x]}}\nschedules:\n\
         - {name: a, cron: '0  3 * * *', dialect: posix, target: t}\n\
         - {name: b, on: {schedule: a, delay: 5m}, target: t}\n\
         - {name: c, after: 30s, depends_on: a, target: t}\n",
    );
    let (id, owner) =
        (ScheduleId::of_name("acme", "a"), Owner { org_id: "acme".into(), user_id: Some("ada".into()) });
    let (a, b, c) = (schedule(&declared, "a"), schedule(&declared, "b"), schedule(&declared, "c"));
    assert_eq!((a.id, &a.owner, a.version), (id, &owner, 1));
    assert_eq!((a.spec.as_str(), a.dialect), ("0  3 * * *", Dialect::Posix), "as it was written");
    assert_eq!(a.when.timing().map(|timing| timing.created_at), Some(now()));
    assert_eq!(*a.policy, Policy::default());
    let delay = SignedDuration::from_mins(5);
    assert_eq!(b.when, When::Chain(Chain { delay, ..Chain::new(id, ChainOn::Success) }));
    assert_eq!(c.policy.depends_on, Some(Dependency::on(vec![id])));
    assert_eq!(declared.schedules[2].after_start, Some(SignedDuration::from_secs(30)));
    let limits = OrgLimits { per_minute_max: Some(u32::MAX), ..OrgLimits::default() };
    assert_eq!((declared.settings.schedules_max, declared.settings.limits), (Some(9), limits));
    assert_eq!((declared.settings.pace, declared.names().get(id)), (Pace::default(), Some("a")));
}

#[test]
fn launches_are_repeated_as_the_schedule_says() {
    let launch = |keys: &str| schedule(&read(&one(&format!("every: 5m\n{keys}"))), "a").policy.launch;
    let delay = SignedDuration::from_millis(1500);
    assert_eq!(launch("launch: {attempts: 5, delay: 1500ms}"), Launch { attempts_max: 5, delay });
    assert_eq!(launch("launch: {attempts: 1}"), Launch { attempts_max: 1, ..Launch::default() });
    assert_eq!(launch("launch: {delay: 1500ms}"), Launch { delay, ..Launch::default() });
    let check = |keys: &str, expected: &str| {
        let said = refusal(&one(&format!("every: 5m\nlaunch: {keys}")));
        assert!(said.starts_with(&format!("error: jobs.yaml:5:{expected}")), "{said}");
    };
    check("{}", "11: `launch` says nothing");
    check("3", "11: `3` is not keys with values");
    check("{attempts: 0}", "22: `0` is too small");
    check("{attempts: 101}", "22: `101` is too large");
    check("{delay: soon}", "19: `soon` is not a duration");
    check("{delay: 2h}", "19: `delay` is longer than a launch ever waits");
    check("{atempts: 2}", "12: `atempts` is not a key here");
}

#[test]
fn what_the_plan_cannot_hold_is_refused() {
    let check = |text: &str, expected: &str| assert!(refusal(text).contains(expected), "{}", refusal(text));
    check(
        &one("every: 5m\ndepends_on: []\ndepends_timeout: 5m"),
        "error: jobs.yaml:6:3: `depends_timeout` changes nothing without `depends_on`\n",
    );
    check(
        "targets: {t: {type: workflow, workflow_id: w, version: 4294967296}}\n",
        "error: jobs.yaml:1:56: `4294967296` is too large\n",
    );
    check(
        "plugins: {a/b: {schedules: [{every: 5m}]}}\n",
        "error: jobs.yaml:1:11: `a/b` holds a `/` and cannot",
    );
}

#[test]
fn a_template_is_filled_and_the_schedules_own_keys_win() {
    let declared = read(
        "templates:\n  t: {cron: '0 ${hour} * * *', max_catch_up: '${most}', guard: '$${x}', target: {type: process, argv: [x, 'for-${who}']}}\nschedules:\n- {name: a, template: t, set: {hour: 9, who: me, most: 7}, cron: 0 1 * * *}\n",
    );
    let a = schedule(&declared, "a");
    let When::Ticks(timing) = &a.when else { panic!("{:?}", a.when) };
    assert_eq!(timing.spec.to_string(), "0 1 * * *");
    assert_eq!((a.policy.max_catch_up, a.policy.guard.as_deref()), (7, Some("${x}")));
    assert!(matches!(&a.target.action, Action::Process(process) if process.argv[1] == "for-me"));
}

#[test]
fn a_template_that_nobody_uses_is_checked_as_far_as_it_can_be() {
    for fine in [
        "{cron: '0 ${hour} * * *', dialect: posix, max_catch_up: '${most}', guard: '$${x}'}",
        "{retry_after: 5m, depends_timeout: 5m, dst: {gap: skip}, anchor: last_start}",
        "{target: {type: '${kind}', argv: [x]}, jitter: {max: '${far}', mode: around}, tags: ['${tag}']}",
        "{target: {type: process, argv: ['${program}']}, timezone: '${zone}', not_on: ['${day}', sunday]}",
    ] {
        read(&format!("templates: {{t: {fine}}}\n"));
    }
    let told = golden(&[
        "templates: {t: {crom: 0 3 * * *}}\n",
        "templates: {t: {if_running: skp, max_catch_up: 0, tags: '${tags}', enabled: 5}}\n",
        "templates: {t: {description: '${x}', jitter: {max: '${far}', mod: around}, not_on: ['${day}', [1]]}}\n",
        "templates: {t: {target: {type: process, argv: ['${x}'], cdw: /}}, u: {target: {type: '${x}'}, evry: 1}}\n",
        "templates: {t: {cron: 61 * * * *}, u: {every: 5m, at: 2027-01-01T00:00}, v: {guard: '${x}', grace: soon}}\n",
        "templates: {t: {timezone: Europe/Berln, not_on: [satday], quiet_hours: nights, target: chat}}\n",
        "templates: {t: {launch: {delay: 2h}, retry_after: '${x}', start_at: tomorrow, only_between: 25-26}}\n",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_one_shot_that_is_over_does_not_spoil_the_file() {
    read(&one("at: 2020-01-01T00:00"));
    read(&one("cron: 0 3 * * *\nend_at: 2020-01-01T00:00"));
    read(&one("every: 5m\nend_at: 2020-01-01T00:00"));
}

#[test]
fn a_folder_is_its_files_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("a.yaml", "schedules: [{name: a, every: 5m, target: t}]");
    write("b.yml", "targets: {t: {type: process, argv: [x]}}");
    write("notes.txt", "not: [yaml");
    assert_eq!(declare::read(folder.path(), now()).expect("both").schedules.len(), 1);
    write("c.yaml", "targets: {t: {type: process, argv: [x]}}");
    let said = declare::read(folder.path(), now()).expect_err("twice").to_string();
    assert!(said.contains("c.yaml:1:11: `t` is in another file already"), "{said}");
}

#[test]
fn every_example_can_be_read() {
    for entry in std::fs::read_dir(example("")).expect("the examples") {
        let path = entry.expect("an entry").path();
        declare::read(&path, now()).unwrap_or_else(|failure| panic!("{failure}"));
    }
}

#[test]
fn a_hundred_thousand_schedules_are_the_limit() {
    let line = |number: usize| format!("- {{name: n{number}, cron: 0 3 * * *, target: t}}\n");
    let items: String = (0..100_001).map(line).collect();
    let said = refusal(&format!("targets: {{t: {{type: process, argv: [x]}}}}\nschedules:\n{items}"));
    assert_eq!(
        said,
        "error: jobs.yaml:100003:3: there are more than 100000 schedules\n  \
         100003 | - {name: n100000, cron: 0 3 * * *, target: t}\nhint: divide them among several databases",
        "the others are in order"
    );
}

/// Nine levels of nine aliases each would be 387 million values.
fn bomb() -> String {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, below) in ('b'..='i').zip('a'..) {
        let aliases = vec![format!("*{below}"); 9].join(", ");
        text += &format!("{name}: &{name} [{aliases}]\n");
    }
    text
}

#[test]
fn files_beyond_the_budgets_are_refused() {
    let deep = format!("a: {}1{}\n", "[".repeat(100), "]".repeat(100));
    let very_deep = format!("a: {}", "[".repeat(100_000));
    let anchors: String = (0..2000).map(|number| format!("- &a{number} 1\n")).collect();
    for text in [&bomb(), &deep, &very_deep, &format!("a:\n{anchors}")] {
        let said = refusal(text);
        assert!(said.contains("hint: write it with fewer levels and aliases"), "{said}");
    }
    let large = format!("# {}\n", "x".repeat(33 << 20));
    assert!(refusal(&large).contains("bytes, the limit is"));
}

#[test]
fn what_templates_and_plugins_multiply_is_bounded() {
    let payload = "x".repeat(1 << 20);
    let uses: String = (0..300).map(|number| format!("- {{name: n{number}, template: t}}\n")).collect();
    let target = "{type: process, argv: [x]}";
    let template = format!(
        "templates: {{t: {{every: 1h, target: {target}, payload: {{x: {payload}}}}}}}\nschedules:\n{uses}"
    );
    let slots = "'${x}', ".repeat(300);
    let set = format!(
        "templates: {{t: {{every: 1h, target: {target}, tags: [{slots}]}}}}\nschedules: [{{name: a, template: t, set: {{x: {payload}}}}}]"
    );
    let uses: String = (0..300).map(|number| format!("    - {{id: n{number}, every: 1h}}\n")).collect();
    let plugin = format!("plugins:\n  p:\n    run: [{payload}]\n    schedules:\n{uses}");
    for text in [template, set, plugin] {
        let said = refusal(&text);
        assert!(said.contains("are copied more than 200000000 bytes in all"), "{}", &said[..200]);
    }
}

#[test]
fn long_chains_and_many_cycles_are_judged_without_deep_recursion() {
    let target = "{type: process, argv: [x]}";
    let line = |number: usize| {
        format!("- {{name: n{number}, on: {{schedule: n{}}}, target: {target}}}\n", number + 1)
    };
    let chain: String = (0..5000).map(line).collect();
    let last = |on: &str| format!("schedules:\n{chain}- {{name: n5000, {on}, target: {target}}}\n");
    assert_eq!(read(&last("every: 1h")).schedules.len(), 5001);
    let said = refusal(&last("on: {schedule: n0}"));
    assert!(said.contains("`n0` → `n1` → `n2`") && said.contains("`…` → `n0`"), "{said}");
    let all: Vec<String> = (0..100).map(|number| format!("n{number}")).collect();
    let line = |name: &String| {
        format!("- {{name: {name}, every: 1h, target: {target}, depends_on: [{}]}}\n", all.join(", "))
    };
    let tangle: String = all.iter().map(line).collect();
    assert_eq!(refusal(&format!("schedules:\n{tangle}")).matches("wait for each other").count(), 20);
}

/// The limit on what aliases stand for ends it after a few thousand values: some milliseconds, not minutes.
#[test]
fn a_bomb_is_refused_before_it_unfolds() {
    let said = refusal(&bomb());
    assert!(said.starts_with("error: jobs.yaml:4:12: the file says too much with too little"), "{said}");
}
