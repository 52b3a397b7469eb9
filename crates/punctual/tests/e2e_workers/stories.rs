//! What may happen to a run in the hands of a worker.

use std::path::Path;

use serde_json::json;

use crate::live::until;
use crate::shop::{Manner, Shop, Tongue};

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Lets a command behind a gate go on.
fn open(gate: &Path) {
    std::fs::write(gate, "go\n").expect("somebody reads");
}

#[test]
fn a_run_is_leased_done_and_told_and_so_is_one_that_fails() {
    let shop = Shop::open();
    shop.schedule("good", &["--prompt", "Just do it"]);
    for tongue in Tongue::BOTH {
        let seen = shop.person.home().join(format!("{tongue:?}"));
        let keep = format!("cat > {}", text(&seen));
        let mut worker = shop.worker(tongue, Manner::Lively, &["sh", "-c", &keep]);
        let run = shop.trigger("good");
        worker.wait_for(&format!("took {run} 1"));
        worker.wait_for(&format!("ended {run} success"));
        assert_eq!(shop.run(&run)["status"], "success");
        let input = std::fs::read_to_string(&seen).expect("it was handed over");
        assert!(input.contains("Just do it") && input.contains(&run), "{tongue:?}: {input}");
        drop(worker);
        let mut worker = shop.worker(tongue, Manner::Lively, &["sh", "-c", "exit 3"]);
        let run = shop.trigger("good");
        worker.wait_for(&format!("ended {run} failed"));
        let ended = shop.run(&run);
        assert_eq!(
            (&ended["status"], &ended["reason"]),
            (&json!("failed"), &json!("reported")),
            "{tongue:?}"
        );
        assert!(ended.to_string().contains("exit code 3"), "{ended}");
    }
    shop.close();
}

#[test]
fn both_share_one_queue_and_each_run_is_done_once() {
    let shop = Shop::open();
    let notes = shop.person.home().join("notes");
    let note = format!("cat > /dev/null; echo $$ >> {}", text(&notes));
    shop.schedule("many", &["--if-running", "allow"]);
    let _workers = Tongue::BOTH.map(|tongue| shop.worker(tongue, Manner::Lively, &["sh", "-c", &note]));
    let runs: Vec<String> = (0..12).map(|_| shop.trigger("many")).collect();
    for run in &runs {
        until(&shop.person, "many", |row| row["id"] == json!(run) && row["status"] == "success");
    }
    assert_eq!(std::fs::read_to_string(&notes).expect("notes").lines().count(), runs.len());
    shop.close();
}

#[test]
fn heartbeats_hold_a_run_beyond_its_lease() {
    let shop = Shop::open();
    shop.schedule("slow", &[]);
    for tongue in Tongue::BOTH {
        let gate = shop.gate(&format!("gate-{tongue:?}"));
        let mut worker = shop.worker(tongue, Manner::Lively, &["cat", text(&gate)]);
        let run = shop.trigger("slow");
        // Each of them comes 0.3 seconds after the one before: the first lease is long over.
        for _ in 0..6 {
            worker.wait_for(&format!("held {run}"));
        }
        assert_eq!(shop.run(&run)["status"], "running", "{tongue:?}");
        open(&gate);
        worker.wait_for(&format!("ended {run} success"));
        assert_eq!(shop.run(&run)["attempt"], 1, "{tongue:?}");
    }
    shop.close();
}

#[test]
fn a_lost_lease_goes_to_another_worker_and_a_late_failure_is_refused() {
    for tongue in Tongue::BOTH {
        let shop = Shop::open();
        shop.schedule("again", &["--retry-after", "1s"]);
        let gate = shop.gate("gate");
        let fail = format!("read word < {}; exit 3", text(&gate));
        let mut silent = shop.worker(tongue, Manner::Silent, &["sh", "-c", &fail]);
        let run = shop.trigger("again");
        silent.wait_for(&format!("took {run} 1"));
        let mut other = shop.worker(tongue.other(), Manner::Lively, &["true"]);
        other.wait_for(&format!("took {run} 2"));
        other.wait_for(&format!("ended {run} success"));
        open(&gate);
        let said = silent.wait_for(match tongue {
            Tongue::Python => "refused",
            Tongue::Shell => "ended",
        });
        assert!(said.contains("409"), "{said}");
        let ended = shop.run(&run);
        assert_eq!((&ended["status"], &ended["attempt"]), (&json!("success"), &json!(2)), "{tongue:?}");
        shop.close();
    }
}

#[test]
fn a_late_success_closes_a_run_that_is_still_open() {
    for tongue in Tongue::BOTH {
        let shop = Shop::open();
        shop.schedule("late", &["--retry-after", "1h"]);
        let gate = shop.gate("gate");
        let mut silent = shop.worker(tongue, Manner::Silent, &["cat", text(&gate)]);
        let run = shop.trigger("late");
        silent.wait_for(&format!("took {run} 1"));
        let lost = until(&shop.person, "late", |row| row["status"] == "retrying");
        assert_eq!(lost["reason"], "lost", "{tongue:?}");
        open(&gate);
        silent.wait_for(&format!("ended {run} success"));
        assert_eq!(shop.run(&run)["status"], "success", "{tongue:?}");
        shop.close();
    }
}

#[test]
fn a_cancelled_run_is_told_by_the_heartbeat_and_its_command_ended() {
    let shop = Shop::open();
    shop.schedule("stop", &[]);
    for tongue in Tongue::BOTH {
        let gate = shop.gate(&format!("gate-{tongue:?}"));
        let mut worker = shop.worker(tongue, Manner::Lively, &["cat", text(&gate)]);
        let run = shop.trigger("stop");
        worker.wait_for(&format!("held {run}"));
        shop.person.json(&["cancel", &run]);
        worker.wait_for(&format!("cancelled {run}"));
        assert_eq!(shop.run(&run)["status"], "cancelled", "{tongue:?}");
        // It is free for the next one.
        let next = shop.trigger("stop");
        worker.wait_for(&format!("took {next} 1"));
        shop.person.json(&["cancel", &next]);
        worker.wait_for(&format!("cancelled {next}"));
    }
    shop.close();
}
