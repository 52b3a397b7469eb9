//! Goal: several nodes on one PostgreSQL lose no tick and double none, whatever happens to them.
//! Method: real processes that are killed, stopped for longer than their lease, added and asked to leave while schedules
//! tick; then a reader that shares no code with the program accounts for every tick.
//!
//! `cargo xtask faults nodes` does the same under load, with a clock that is wrong, and measures it.

mod cluster;
#[path = "../e2e_program/database.rs"]
mod database;
#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod driver;

use std::fmt::Write as _;
use std::process::Command;

use jiff::{Timestamp, ToSpan as _};

use crate::cluster::{Cluster, Node};

/// Schedules that write a message each second.
const MESSAGES: usize = 40;

/// Schedules that start a program each five seconds, which takes longer than it takes to stop its node.
const PROGRAMS: usize = 20;

/// All of the virtual shards.
const SHARDS: u64 = 256;

fn schedules() -> String {
    let mut text = "schedules:\n".to_owned();
    for number in 0..MESSAGES {
        let cron = "cron: \"* * * * * *\"";
        let target = "{type: message, message: {text: tick}}";
        let _ = writeln!(text, "  - {{name: m-1-0-{number}, {cron}, target: {target}}}");
    }
    for number in 0..PROGRAMS {
        let phase = number % 5;
        let cron = format!("cron: \"{phase}-59/5 * * * * *\"");
        let _ = writeln!(
            text,
            "  - {{name: p-5-{phase}-{number}, {cron}, target: {{type: process, argv: [sleep, \"3\"]}}}}"
        );
    }
    text
}

/// A node that was stopped while programs of it ran: others do its work, and nothing that it says of it counts.
fn stop_and_go_on(stopped: &Node, other: &Node) {
    // A program that was admitted a second ago has been started, and goes on for two more.
    let now = Timestamp::now();
    stopped.fires("p-", now);
    stopped.fires("m-", now + 2.seconds());
    stopped.signal("-STOP");
    other.takes_over(SHARDS);
    other.fires("m-", Timestamp::now() + 2.seconds());
    stopped.signal("-CONT");
    stopped.hears("this node has a new lease");
    stopped.holds(SHARDS / 2);
    stopped.fires("m-", Timestamp::now());
    assert_eq!(stopped.metrics("punctual_fence_losses_total"), ["punctual_fence_losses_total 1"]);
}

#[test]
fn nodes_that_are_killed_stopped_added_and_removed_lose_no_tick_and_double_none() {
    let cluster = Cluster::new();
    let (a, b) = (cluster.start("a"), cluster.start("b"));
    let file = cluster.person.home().join("schedules.yaml");
    std::fs::write(&file, schedules()).expect("a file");
    cluster.json(&["apply", &file.display().to_string()]);
    b.holds(SHARDS / 2);
    let now = Timestamp::now();
    a.fires("p-", now);
    a.fires("m-", now + 2.seconds());

    a.kill();
    b.holds(SHARDS);
    b.fires("m-", Timestamp::now());

    let c = cluster.start("c");
    c.holds(SHARDS / 2);
    c.fires("m-", Timestamp::now());

    stop_and_go_on(&b, &c);

    let nodes = cluster.json(&["system", "nodes"]);
    let nodes = nodes["nodes"].as_array().expect("a list");
    let states: Vec<&str> = nodes.iter().filter_map(|node| node["state"].as_str()).collect();
    assert_eq!(states, ["alive", "alive", "lost", "lost"], "the newest first: {nodes:?}");
    for node in &nodes[..2] {
        assert_eq!((&node["shards"], &node["plans"]), (&(SHARDS / 2).into(), &true.into()), "{node}");
        assert!(node["clock_offset_ms"].is_number() && node["tz_version"].is_string(), "{node}");
    }

    c.leave();
    b.holds(SHARDS);
    let through = Timestamp::now();
    // By then all runs of ticks up to that instant have ended, also those that were repeated.
    b.fires("m-", through + 12.seconds());
    b.leave();
    judge(&cluster, through);
}

fn judge(cluster: &Cluster, through: Timestamp) {
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/src/faults/ledger_reader.py");
    let question = format!("{{\"through\": {}}}", through.as_second());
    for command in ["judge", "self-test"] {
        let judged = Command::new("python3")
            .args(["-B", reader, command, &cluster.url, &question])
            .output()
            .expect("python3 is installed; `cargo xtask ground` does it");
        let said = String::from_utf8_lossy(&judged.stdout);
        assert!(judged.status.success(), "{said}{}", String::from_utf8_lossy(&judged.stderr));
    }
}
