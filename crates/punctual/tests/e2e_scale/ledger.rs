//! Goal: a long ledger with much output is listed, audited and checked in memory that does not grow with it.
//! Method: three hundred thousand rows of one schedule, the latest of them with 8 kB of output each, written by somebody
//! with a tool of their own; each command under a limit of memory.

use std::process::Command;

use crate::driver::Person;
use crate::{count, within};

/// What a walk through the ledger may take, page by page.
const PAGE_MIB: u32 = 100;

/// A quarter of a gigabyte of output is in the latest rows.
const FILL: &str = "
    WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 300000)
    INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, status, version, tz, attempt,
        enqueued_at, started_at, completed_at)
    SELECT unixepoch() - 400000 + x, s.org, s.key, 'tick', '', 0, (unixepoch() - 400000 + x) * 1000000, 'success', 1,
        (SELECT min(key) FROM tz_versions), 1, (unixepoch() - 400000 + x) * 1000000,
        (unixepoch() - 400000 + x) * 1000000 + 3000, (unixepoch() - 400000 + x) * 1000000 + 9000
    FROM n, schedules AS s;
    INSERT INTO attempts (run, number, org, started_at, ended_at, output)
    SELECT key, 1, org, started_at, completed_at, hex(zeroblob(4096)) FROM runs
    WHERE status = 'success' ORDER BY scheduled_for DESC LIMIT 30000;";

fn fill(person: &Person) {
    let script =
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); db.executescript(sys.argv[2]); db.commit()";
    let mut command = Command::new("python3");
    let status = command.args(["-c", script]).arg(person.database()).arg(FILL).status();
    assert!(status.expect("python3 is installed; `cargo xtask ground` does it").success());
}

#[test]
fn a_long_ledger_is_read_in_little_memory() {
    let person = Person::new();
    person.json(&["schedule", "create", "--name", "long", "--every", "1h", "--", "true"]);
    fill(&person);
    let listed = within(&person, PAGE_MIB, &["runs", "long"]);
    assert_eq!(count(&listed, "\"idempotency_key\""), 20);
    let limit = ["schedule", "runs", "--name", "long", "--limit", "50000"];
    assert_eq!(count(&within(&person, PAGE_MIB, &limit), "\"idempotency_key\""), 50_000);
    let all = ["schedule", "runs", "--all", "--limit", "100000"];
    assert_eq!(count(&within(&person, PAGE_MIB, &all), "\"idempotency_key\""), 100_000);
    let audited = within(&person, PAGE_MIB, &["audit", "long", "--from", "7 days ago"]);
    assert_eq!(count(&audited, "\"whole\":true"), 1);
    within(&person, PAGE_MIB, &["db", "status"]);
    within(&person, PAGE_MIB, &["system", "breaker", "long"]);
}
