//! Goal: neither a program that prints a gigabyte nor a thousand programs at once make the service grow.
//! Method: the real targets with real programs; the peak of this process's memory is read from the system and printed.

use std::sync::Arc;

use punctual_engine::{
    Cancel, Finished, HostTargets, Launch, Launched, LiveOutput, OnEnd, OnStart, PROGRAMS_MAX, Targets,
    Vault, allow_open_files,
};
use punctual_plan::{
    Action, Fence, OrgKey, Origin, Outcome, Process, RunKey, Schedule, ScheduleId, ScheduleKey,
};
use punctual_store::{Launchable, Memory, OUTPUT_MAX};
use punctual_time::{Cron, Timing, Zone};
use tokio::task::JoinSet;

const MIB: u64 = 1 << 20;

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib * 1024
}

fn launch(number: i64, argv: &[&str]) -> Launch {
    let timing = Timing::new("0 3 * * *".parse::<Cron>().expect("a spec"), Zone::utc());
    let action = Action::Process(Process::new(argv.iter().copied()));
    let schedule = Schedule::new(ScheduleId(uuid::Uuid::nil()), "load", timing, action);
    let run = Launchable {
        run: RunKey(number),
        schedule: ScheduleKey(1),
        org: OrgKey(1),
        definition: Arc::new(schedule),
        origin: Origin::Tick,
        nonce: String::new(),
        scheduled_for: jiff::Timestamp::UNIX_EPOCH,
        fire_at: jiff::Timestamp::UNIX_EPOCH,
        attempt: 1,
        trace: None,
        token: None,
        answer_by: jiff::Timestamp::MAX,
    };
    let (_, cancel) = Cancel::pair();
    Launch {
        run: run.into(),
        fence: Fence(1),
        ended: OnEnd::default(),
        started: OnStart::new(|| ()),
        cancel,
        output: LiveOutput::default(),
    }
}

fn targets() -> Arc<HostTargets<Memory>> {
    Arc::new(HostTargets::new(Arc::new(Memory::new()), Vault::new("/nonexistent/punctual.key")))
}

async fn end(targets: &HostTargets<Memory>, launch: Launch) -> Finished {
    match targets.launch(launch).await {
        Launched::Ended(finished) => finished,
        other => panic!("{other:?}"),
    }
}

/// One test, so that each figure is that of one thing after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gigabyte_of_output_and_a_thousand_programs_need_little_memory() {
    allow_open_files(PROGRAMS_MAX).expect("enough files");
    let before = peak();
    let targets = targets();
    let script = "echo begin; head -c 1073741824 /dev/zero; echo end";
    let finished = end(&targets, launch(1, &["sh", "-c", script])).await;
    let output = finished.output.expect("it printed");
    assert_eq!(finished.outcome, Outcome::Succeeded);
    assert!(output.len() <= OUTPUT_MAX && output.starts_with("begin\n") && output.ends_with("end\n"));
    let after_output = peak();
    println!("1 GiB of output: {} MiB before, {} MiB at most", before / MIB, after_output / MIB);
    assert!(
        after_output - before < 16 * MIB,
        "a gigabyte of output took {} MiB",
        (after_output - before) / MIB
    );

    let folder = tempfile::tempdir().expect("a temporary folder");
    let gate = folder.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().expect("mkfifo").success());
    // All of them run until the gate, which nobody has opened yet, is opened and closed again.
    let script = format!("echo here; read line < {}; exit 0", gate.display());
    let mut running: JoinSet<Finished> = JoinSet::new();
    for number in 0..1_000 {
        let (targets, script) = (Arc::clone(&targets), script.clone());
        running.spawn(async move { end(&targets, launch(number, &["sh", "-c", &script])).await });
    }
    while children() < 1_000 {
        tokio::task::yield_now().await;
    }
    // Who is not in front of the gate yet finds it open: this end stays until all are through.
    let open = std::fs::OpenOptions::new().read(true).write(true).open(&gate).expect("a gate");
    {
        use std::io::Write;
        (&open).write_all("go\n".repeat(1_000).as_bytes()).expect("room for all");
    }
    let mut ended = 0;
    while let Some(finished) = running.join_next().await {
        let finished = finished.expect("no panic");
        assert_eq!((finished.outcome, finished.output.as_deref()), (Outcome::Succeeded, Some("here\n")));
        ended += 1;
    }
    let after_programs = peak();
    println!("{ended} programs at once: {} MiB at most", after_programs / MIB);
    assert!(after_programs - before < 128 * MIB, "{} MiB", (after_programs - before) / MIB);
}

/// How many programs this process has now.
fn children() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux tells");
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.ok()?.path().join("children");
        // A thread that ended meanwhile has none.
        Some(std::fs::read_to_string(path).unwrap_or_default().split_whitespace().count())
    };
    tasks.filter_map(of_task).sum()
}
