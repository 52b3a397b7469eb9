//! What is refused before anything is stored, and with which words.

use std::time::Duration;

use punctual::Task;
use punctual::scheduler::{ChainOn, Error, MemoryLedger, TestClock};

use crate::stage::{Stage, at, minutes};

fn task(name: &str, cron: &str) -> Task {
    Task::new(name, cron, minutes(1), |_| async { Ok(()) })
}

#[tokio::test(start_paused = true)]
async fn cron_that_is_not_posix_is_refused_with_token_column_and_fix() {
    let stage = Stage::memory("09:30:00");
    for (cron, token, fix) in [
        ("*/15 * * * *", "`*/15` is not POSIX cron (minute field, column 1)", "`0,15,30,45`"),
        ("0-30/5 * * * *", "`0-30/5`", "`0,5,10,15,20,25,30`"),
        ("0 9 * * mon", "`mon`", "`1`"),
        ("0 9 * jan *", "`jan`", "`1`"),
        ("@hourly", "`@hourly`", "`0 * * * *`"),
        ("@reboot", "`@reboot`", ""),
        ("0 9 ? * *", "`?`", ""),
        ("0 9 L * *", "`L`", ""),
        ("0 9 15W * *", "`15W`", ""),
        ("0 9 * * 1#2", "`1#2`", ""),
        ("0 9 * * 7", "`7`", "`0`"),
        ("0 22-2 * * *", "`22-2`", "`22-23,0-2`"),
        ("0 0 9 * * *", "", ""),
        ("60 * * * *", "`60`", ""),
        ("", "", ""),
    ] {
        let refused = stage.refused([task("tidy", cron)]).await;
        let text = refused.to_string();
        let Error::Spec { task, error } = refused else { panic!("{cron}: {text}") };
        assert_eq!(task, "tidy");
        assert!(error.to_string().contains(token), "{cron}: {text}");
        assert!(fix.is_empty() || error.hint().is_some_and(|hint| hint.contains(fix)), "{cron}: {text}");
        assert!(error.hint().is_some(), "{cron}: {text}");
        assert!(text.starts_with("task `tidy`: ") && text.contains("\nhint: "), "{text}");
    }
    // Nothing of it was stored.
    stage.start([task("tidy", "0 9 * * *")]).await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_fires_more_often_than_the_scheduler_looks_is_refused_with_both() {
    let stage = Stage::memory("09:30:00");
    let every = |seconds: u64| stage.builder().poll_interval(Duration::from_secs(seconds));
    let refused = every(600).initialize([task("busy", "0,5 * * * *")]).await.expect_err("too often");
    let told = "task `busy`: `0,5 * * * *` fires every `300s`, and the scheduler looks only every `600s`";
    assert_eq!(refused.to_string().lines().next(), Some(told));
    every(300).initialize([task("busy", "0,5 * * * *")]).await.expect("often enough").stop().await;
}

#[tokio::test(start_paused = true)]
async fn tasks_that_cannot_be_meant_together_are_refused() {
    let stage = Stage::memory("09:30:00");
    let hour = Duration::from_secs(3_600);
    let cases = [
        (vec![task("a", "0 9 * * *"), task("a", "0 8 * * *")], "two tasks are called `a`"),
        (
            vec![task("a", "0 9 * * *").depends_on(["b"], hour)],
            "task `a` waits for `b`, which is not among the tasks",
        ),
        (
            vec![
                task("a", "0 9 * * *").depends_on(["b"], hour),
                task("b", "").after("c", ChainOn::Success, Duration::ZERO),
                task("c", "0 9 * * *").depends_on(["a"], hour),
                task("d", "0 9 * * *").depends_on(["a"], hour),
            ],
            "tasks wait for each other: `a` -> `b` -> `c` -> `a`",
        ),
        (
            vec![task("a", "0 9 * * *").timezone("Mars/Olympus")],
            "task `a`: `Mars/Olympus` is not a time zone",
        ),
        (vec![task(" ", "0 9 * * *")], "the name is empty"),
    ];
    for (tasks, expected) in cases {
        let text = stage.refused(tasks).await.to_string();
        assert!(text.starts_with(expected), "{text}");
    }
    let refused = stage.builder().name("a/b").initialize([]).await.expect_err("a name of a file");
    assert!(refused.to_string().starts_with("`a/b` cannot be the name of a set"));
}

#[tokio::test(start_paused = true)]
async fn a_ledger_is_run_by_one_scheduler_at_a_time() {
    for stage in [Stage::memory("09:30:00"), Stage::sqlite("09:30:00")] {
        let running = stage.start([task("a", "0 9 * * *")]).await;
        let refused = stage.refused([task("a", "0 9 * * *")]).await;
        assert!(
            matches!(&refused, Error::Failure(failure) if failure.kind == punctual::Kind::InUse),
            "{refused}"
        );
        assert!(refused.to_string().contains("hint: stop it first"), "{refused}");
        running.stop().await;
        stage.start([task("a", "0 9 * * *")]).await.stop().await;
    }
}

#[test]
fn a_run_that_a_crash_left_is_repeated_as_the_next_attempt() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime")
    };
    let ledger = MemoryLedger::new();
    let builder = || punctual::Scheduler::builder().name("shop").memory(&ledger).timezone("UTC");
    let crashed = runtime();
    let scheduler = crashed.block_on(async {
        let clock = TestClock::at(at("09:59:00"));
        let hangs = Task::new("a", "0 10 * * *", minutes(1), |_| std::future::pending());
        let scheduler = builder().clock(&clock).initialize([hangs]).await.expect("it starts");
        clock.advance(minutes(2)).await;
        scheduler
    });
    // The end of the runtime is the end of everything in it, at whatever it was.
    drop(crashed);
    drop(scheduler);
    runtime().block_on(async {
        let clock = TestClock::at(at("10:05:00"));
        let scheduler =
            builder().clock(&clock).initialize([task("a", "0 10 * * *")]).await.expect("it starts");
        clock.advance(minutes(1)).await;
        let runs = scheduler.runs("a").await.expect("it is known");
        assert_eq!((runs.len(), runs[0].run.state.status().name()), (1, "success"));
        assert_eq!(runs[0].run.attempts.last().map(|attempt| attempt.number), Some(2));
        scheduler.stop().await;
    });
}
