//! Programs: what they are given, how they end, and that none of them can hold up or outlive its run.

use jiff::SignedDuration;
use punctual_engine::Why;
use punctual_plan::{Action, Outcome, Process, ProcessLimits};
use punctual_store::OUTPUT_MAX;
use serde_json::Value;

use super::stage::{Stage, TRACE, env, fifo, hear, limited, schedule, shell};

#[tokio::test]
async fn a_program_gets_its_run_as_json_and_as_variables() {
    let stage = Stage::new().await;
    let finished = stage.sh("cat; echo; env | grep -E '^(PUNCTUAL_|TRACEPARENT=)' | sort").await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let output = finished.output.expect("it printed its run");
    let (json, variables) = output.split_once('\n').expect("two parts");
    let json: Value = serde_json::from_str(json).expect("JSON");
    let expected: Value = serde_json::from_str(
        r#"{"schedule_id": "00000000-0000-0000-0000-000000000007", "schedule_name": "nightly",
            "schedule_version": 4, "org_id": "default", "user_id": "ada", "payload": {"size": 3}, "run_id": "run-41",
            "scheduled_for": "2026-03-01T10:00:00Z", "fire_at": "2026-03-01T10:00:02Z", "manual_trigger": true,
            "attempt": 2, "origin": "manual", "fence": 3, "request_id": "request-7"}"#,
    )
    .expect("an object");
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&json[name], value, "{name}");
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let line = format!("PUNCTUAL_{}={text}\n", name.to_uppercase());
        assert!(variables.contains(&line), "{line} in {variables}");
    }
    let key = punctual_plan::run_key(
        schedule(Action::Process(Process::default())).id,
        punctual_plan::Origin::Manual,
        "request-7",
        "2026-03-01T10:00:00Z".parse().expect("an instant"),
    );
    assert_eq!(json["idempotency_key"], key.as_str());
    assert!(json["triggered_at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert_eq!(json["traceparent"], TRACE);
    assert!(variables.contains(&format!("\nTRACEPARENT={TRACE}\n")), "{variables}");
}

#[tokio::test]
async fn a_program_sees_what_is_named_and_little_else() {
    let stage = Stage::new().await;
    let mut program =
        shell("pwd; env | grep -v ^PUNCTUAL_ | cut -d= -f1 | sort | tr '\\n' ' '; echo $GREETING");
    program.cwd = Some("/".to_owned());
    program.env = env(&[("GREETING", "hello ${name} $${env:X}")]);
    let output = stage.run(program).await.output.expect("it printed");
    let known = [
        "GREETING",
        "HOME",
        "LANG",
        "LC_ALL",
        "LOGNAME",
        "OLDPWD",
        "PATH",
        "PWD",
        "SHELL",
        "SHLVL",
        "TMPDIR",
        "TRACEPARENT",
    ];
    let mut lines = output.lines();
    assert_eq!(lines.next(), Some("/"));
    let (names, greeting) = lines.next().expect("a line").split_once("hello").expect("a greeting");
    assert_eq!(greeting, " ${name} ${env:X}");
    for name in names.split_whitespace().filter(|name| !["TZ", "USER", "_"].contains(name)) {
        assert!(known.contains(&name), "{name} was not named");
    }
    assert!(!names.contains("CARGO"), "the test's own environment stays away: {names}");
}

#[tokio::test]
async fn a_program_ends_as_it_says() {
    let stage = Stage::new().await;
    for (script, expected) in [
        ("exit 0", Outcome::Succeeded),
        ("echo wrong >&2; exit 3", Outcome::Exited { code: 3 }),
        ("kill -9 $$", Outcome::Signalled { signal: 9 }),
        ("kill -TERM $$", Outcome::Signalled { signal: 15 }),
        ("exec >&- 2>&- <&-; exit 4", Outcome::Exited { code: 4 }),
    ] {
        assert_eq!(stage.sh(script).await.outcome, expected, "{script}");
    }
    assert_eq!(stage.sh("echo wrong >&2; exit 3").await.output.as_deref(), Some("wrong\n"));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let stage = Stage::new().await;
    let error = async |program: Process| match stage.run(program).await.outcome {
        Outcome::LaunchFailed { error } => error,
        other => panic!("{other:?}"),
    };
    let missing = error(Process::new(["/no/such/program", "-x"])).await;
    assert_eq!(missing, "`/no/such/program -x`: No such file or directory (os error 2)");
    let mut nowhere = shell("true");
    nowhere.cwd = Some("/no/such/folder".to_owned());
    assert!(error(nowhere).await.contains("No such file or directory"));
    let mut nobody = shell("true");
    nobody.user = Some("nobody-of-this-name".to_owned());
    assert_eq!(error(nobody).await, "there is no user `nobody-of-this-name` on this host");
    let huge = "x".repeat(3 << 20);
    let refused = error(Process::new(["echo", &huge])).await;
    assert!(refused.contains("Argument list too long") && refused.len() < 1_000, "{} bytes", refused.len());
}

#[tokio::test]
async fn a_program_that_ignores_sigterm_is_killed_with_its_children() {
    let stage = Stage::new().await;
    let pipe = stage.path("pipe");
    fifo(&pipe);
    // The child holds the pipe open as long as it lives.
    let script = format!(
        "exec 3>{}; trap '' TERM; sleep 1000 & echo ready >&3; while :; do sleep 1000; done",
        pipe.display()
    );
    let mut program = shell(&script);
    program.kill_after = SignedDuration::from_millis(50);
    let launched = stage.launch(limited(Action::Process(program), 200));
    assert_eq!(hear(&pipe).await, "ready\n", "everybody who held the pipe is gone");
    assert_eq!(launched.end().await.outcome, Outcome::TimedOut);
}

#[tokio::test]
async fn a_cancelled_program_may_clean_up_before_it_ends() {
    let stage = Stage::new().await;
    let pipe = stage.path("pipe");
    fifo(&pipe);
    let script = format!(
        "trap 'echo cleaned; exit 0' TERM; echo ready > {}; while :; do sleep 0.01; done",
        pipe.display()
    );
    let launched = stage.launch(schedule(Action::Process(shell(&script))));
    assert_eq!(hear(&pipe).await, "ready\n");
    launched.canceller.cancel(Why::Ended);
    let finished = launched.end().await;
    assert_eq!(finished.outcome, Outcome::Cancelled { by: "the ledger".to_owned() });
    // A shell may also say that the child it waited for was ended by the signal.
    let output = finished.output.unwrap_or_default();
    assert!(output.ends_with("cleaned\n"), "{output}");
}

#[tokio::test]
async fn children_that_stay_behind_end_with_their_program() {
    let stage = Stage::new().await;
    let pipe = stage.path("pipe");
    fifo(&pipe);
    let script = format!("(exec 3>{}; echo left >&3; exec sleep 1000) & exit 0", pipe.display());
    let launched = stage.launch(schedule(Action::Process(shell(&script))));
    let (heard, finished) = tokio::join!(hear_or_end(&pipe), launched.end());
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(["", "left\n"].contains(&heard.as_str()), "{heard}");
}

/// The child may be killed before it ever opens the pipe: then somebody has to, for the reader's sake.
async fn hear_or_end(pipe: &std::path::Path) -> String {
    let other = pipe.to_owned();
    tokio::task::spawn_blocking(move || {
        use std::io::Read;
        let both = std::fs::OpenOptions::new().read(true).write(true).open(&other).expect("a pipe");
        let mut reader = std::fs::File::open(&other).expect("a reader");
        drop(both);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("text");
        text
    })
    .await
    .expect("a reader")
}

#[tokio::test]
async fn something_that_left_the_group_does_not_hold_up_the_run() {
    let stage = Stage::new().await;
    let finished = stage.sh("echo before; setsid sh -c 'trap \"\" HUP; sleep 3' & exit 0").await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert_eq!(finished.output.as_deref(), Some("before\n"));
}

#[tokio::test]
async fn a_program_that_does_not_read_its_input_runs_as_well() {
    let stage = Stage::new().await;
    let mut schedule = schedule(Action::Process(shell("exec <&-; echo done")));
    // More than any pipe holds.
    schedule.payload.insert("much".to_owned(), "x".repeat(1 << 20).into());
    let finished = stage.launch(schedule.clone()).end().await;
    assert_eq!((finished.outcome, finished.output.as_deref()), (Outcome::Succeeded, Some("done\n")));
    schedule.target = std::sync::Arc::new(punctual_plan::Target {
        action: Action::Process(shell("echo \"${PUNCTUAL_PAYLOAD-left out}\"; wc -c")),
        ..(*schedule.target).clone()
    });
    let finished = stage.launch(schedule).end().await;
    let output = finished.output.expect("it counted");
    let (payload, count) = output.split_once('\n').expect("two lines");
    assert_eq!(payload, "left out", "what no variable can hold is on standard input only");
    assert!(count.trim().parse::<usize>().is_ok_and(|count| count > 1 << 20), "{count}");
}

#[tokio::test]
async fn of_a_long_output_both_ends_are_kept() {
    let stage = Stage::new().await;
    let finished = stage.sh("echo begin; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end >&2").await;
    let output = finished.output.expect("it printed");
    assert!(output.len() <= OUTPUT_MAX && output.starts_with("begin\nxxx") && output.ends_with("end\n"));
    assert!(output.contains("bytes are not kept]\n"));
}

#[tokio::test]
async fn a_program_stays_within_its_limits_and_steps_back() {
    let stage = Stage::new().await;
    let mut program =
        shell("until [ $(ulimit -n) = 64 ]; do :; done; ulimit -v; ulimit -t; ulimit -n; ulimit -f; nice");
    program.limits = ProcessLimits {
        memory: Some(1 << 30),
        cpu_seconds: Some(60),
        open_files: Some(64),
        processes: None,
        file_size: Some(512 * 1024),
    };
    program.nice = Some(7);
    let finished = stage.run(program).await;
    assert_eq!(finished.outcome, Outcome::Succeeded, "{finished:?}");
    assert_eq!(finished.output.as_deref(), Some("1048576\n60\n64\n1024\n7\n"));
    let mut busy = shell("while :; do :; done");
    busy.limits.cpu_seconds = Some(1);
    let finished = stage.run(busy).await;
    assert!(matches!(finished.outcome, Outcome::Signalled { .. }), "{finished:?}");
}

#[tokio::test]
async fn a_program_runs_as_the_user_that_is_named() {
    let stage = Stage::new().await;
    let mut program = shell("id -u; id -g; id -G; echo $USER $HOME");
    program.user = Some("nobody".to_owned());
    let finished = stage.run(program).await;
    if !rustix::process::geteuid().is_root() {
        let error = "cannot run as `nobody`: only a service that runs as root can do that".to_owned();
        return assert_eq!(finished.outcome, Outcome::LaunchFailed { error });
    }
    let ask = |arguments: &[&str]| {
        let said = std::process::Command::new("id").args(arguments).arg("nobody").output().expect("id");
        String::from_utf8(said.stdout).expect("text")
    };
    let output = finished.output.expect("it said who it is");
    let expected = format!("{}{}{}nobody ", ask(&["-u"]), ask(&["-g"]), ask(&["-G"]));
    assert!(output.starts_with(&expected), "{output} instead of {expected}");
    // The service itself is who it was.
    assert!(rustix::process::geteuid().is_root());
    let own = stage.sh("id -u").await;
    assert_eq!(own.output.as_deref(), Some("0\n"));
}
