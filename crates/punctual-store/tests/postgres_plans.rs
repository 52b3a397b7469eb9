//! Plans: statistics are taken before a herd and the statements run after it, and still each goes from its keys into
//! an index and touches a small multiple of its batch.

mod ground;

use ground::{connect, ground};
use punctual_store::Postgres;
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

/// Rows that have changed since the tables were analysed.
const HERD: i64 = 100_000;

/// What takes longer than this has lost its plan: each is done in a fraction of a second.
const PATIENCE: &str = "SET LOCAL statement_timeout = '10s'";

/// Keys in one batch.
const BATCH: i64 = 1_000;

/// A hundred thousand schedules with an armed row each, analysed; then all of them are admitted, settled, or waiting.
const HERD_MADE: &str = "
    INSERT INTO schedule_state (schedule, org, shard, version, status, planned_through, decided_through, next_tick, plan_at)
    SELECT n, 1 + n % 3, n % 256, 1, 'active', 0, 0, 2000, 1000 + n FROM generate_series(1, 100000) n;
    INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
    SELECT 1000, 1 + n % 3, n, 'tick', '', n % 256, 1000, 1000 + n, 'scheduled', 1, 1 FROM generate_series(1, 100000) n;
    ANALYZE;
    UPDATE runs SET status = CASE key % 4 WHEN 0 THEN 'enqueued' WHEN 1 THEN 'running' WHEN 2 THEN 'waiting' ELSE 'success' END,
        look_at = CASE WHEN key % 4 < 3 THEN 1000 END, attempt = 1, fence = 1,
        wait_kind = CASE key % 4 WHEN 2 THEN 'turn' END, wait_for = CASE key % 4 WHEN 2 THEN (key - 1)::text END,
        completed_at = CASE WHEN key % 4 = 3 THEN 1000 END;
    UPDATE schedule_state SET active_run = schedule, plan_at = 1000;";

/// A few thousand events of one org, half of them sealed.
const EVENTS: i64 = 4_000;
const EVENTS_MADE: &str = "
    INSERT INTO orgs (id, created_at) VALUES ('acme', 0), ('globex', 0);
    INSERT INTO audit_events (org, at, kind, detail)
    SELECT o.key, 0, 'schedule.created', '' FROM orgs o, generate_series(1, 4000) n WHERE o.id = 'acme';
    INSERT INTO audit_seals (org, position, seq, hash) SELECT e.org, e.seq, e.seq, '' FROM audit_events e WHERE e.seq <= 2000;";

/// A thousand schedules with a hundred rows each, analysed when all of them were armed; then most have ended.
const HISTORY_MADE: &str = "
    INSERT INTO orgs (id, created_at) VALUES ('acme', 0);
    INSERT INTO schedules (org, id, name, tags, spec, version, created_at, updated_at)
    SELECT o.key, 'id-' || n, 'schedule-' || n, '[]', '* * * * *', 1, 0, 0 FROM orgs o, generate_series(1, 1000) n ORDER BY n;
    INSERT INTO schedule_state (schedule, org, shard, version, status, planned_through, decided_through)
    SELECT d.key, d.org, 1, 1, 'active', 0, 0 FROM schedules d;
    INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
    SELECT tick, d.org, d.key, 'tick', '', 1, tick, tick, 'scheduled', 1, 1 FROM generate_series(1, 100) tick, schedules d;
    ANALYZE;
    UPDATE runs SET status = CASE scheduled_for WHEN 91 THEN 'running' ELSE 'success' END,
        look_at = CASE scheduled_for WHEN 91 THEN 5000 END WHERE scheduled_for <= 91;";

macro_rules! sql {
    ($name:literal) => {
        ($name, include_str!(concat!("../sql/postgres/", $name, ".sql")))
    };
}

fn numbers(from: i64) -> String {
    format!("(SELECT array_agg(n) FROM generate_series({from}, {from} + {BATCH} - 1) n)")
}

fn constant(value: i64) -> String {
    format!("array_fill({value}::bigint, ARRAY[{BATCH}])")
}

fn text(value: &str) -> String {
    format!("array_fill('{value}'::text, ARRAY[{BATCH}])")
}

type Asked = ((&'static str, &'static str), Vec<String>);

fn word(word: &str) -> String {
    format!("'{word}'")
}

fn nulls(kind: &str) -> String {
    format!("array_fill(NULL::{kind}, ARRAY[{BATCH}])")
}

/// The statements that plan and admit, with values for each of their parameters.
fn before_the_launch() -> Vec<Asked> {
    let (keys, zero, one) = (numbers(40_001), constant(0), constant(1));
    let (open, null) = ("ARRAY['scheduled', 'waiting', 'retrying']", "NULL");
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<String>>();
    let (keys, zero, one) = (keys.as_str(), zero.as_str(), one.as_str());
    let (no_text, no_number, two) = (nulls("text"), nulls("bigint"), constant(2));
    let (skipped, overlap) = (text("skipped"), text("overlap"));
    vec![
        (sql!("plannable"), values(&["5000", null, &BATCH.to_string()])),
        (sql!("next_plan_at"), values(&["5000", null])),
        (sql!("outstanding"), values(&[keys, "'tick'"])),
        (sql!("late_rows"), values(&[keys, "1000", "'tick'"])),
        (sql!("move_cursors"), values(&[keys, one, zero, zero, one, one, one, one, "'active'"])),
        (sql!("due"), values(&["1000", null, &BATCH.to_string(), "0", "255"])),
        (sql!("next_look_at"), values(&["1000", null])),
        (sql!("moving"), values(&[keys])),
        (sql!("start_runs"), values(&[keys, &two, one, &no_text, "2", "5", open, &no_text, &no_text])),
        (sql!("start_states"), values(&[keys, &no_number, one, &no_number, one, zero, one, "5"])),
        (sql!("close_runs"), values(&[keys, &skipped, &overlap, &skipped, "5", open])),
        (sql!("go_on_if_free"), values(&[keys, "5", "'active'", one, "'tick'"])),
        (sql!("spend_runs"), values(&[keys, "5", "'scheduled'"])),
        (sql!("open_of_schedule"), values(&["40001", open])),
        (sql!("wake_schedule"), values(&["40001", "5", "'waiting'"])),
    ]
}

/// The statements that note launches and settle.
fn after_the_launch() -> Vec<Asked> {
    let (keys, zero, one, number) = (numbers(40_001), constant(0), constant(1), "5".to_owned());
    let (no_text, no_number, success) = (nulls("text"), nulls("bigint"), text("success"));
    let names = format!("(SELECT array_agg(n::text) FROM unnest({keys}) n)");
    let flying = "ARRAY['enqueued', 'running']".to_owned();
    let values = |values: &[&String]| values.iter().map(|value| (*value).clone()).collect::<Vec<String>>();
    let states =
        values(&[&keys, &one, &one, &zero, &zero, &one, &one, &success, &one, &keys, &zero, &one, &number]);
    vec![
        (sql!("mark_running"), values(&[&keys, &one, &one, &"1".to_owned(), &word("enqueued")])),
        (sql!("end_runs"), values(&[&keys, &one, &one, &no_number, &one, &flying])),
        (sql!("end_states"), values(&[&keys, &keys, &one, &one])),
        (sql!("lock_settling"), values(&[&keys])),
        (sql!("lock_states"), values(&[&keys])),
        (sql!("settle_runs"), values(&[&keys, &success, &no_text, &no_text, &no_number, &one, &one])),
        (sql!("settle_states"), states),
        (sql!("wake_turns"), values(&[&one, &names, &number, &word("waiting")])),
        (sql!("wake_upstream"), values(&[&one, &keys, &number, &word("waiting")])),
        (sql!("wake_limited"), values(&[&"ARRAY[1, 2, 3]".to_owned(), &number, &word("waiting")])),
        (sql!("waiters"), values(&[&keys, &word("waiting")])),
        (sql!("exhaust"), values(&[&keys, &number, &word("active"), &one])),
        (sql!("go_on"), values(&[&keys, &number, &word("active")])),
        (sql!("lock_runs"), values(&[&keys])),
        (sql!("take_over"), values(&[&"7".to_owned(), &BATCH.to_string(), &flying])),
    ]
}

/// The statements that ask for the ledger of schedules, and how many rows each may touch.
fn of_schedules() -> Vec<(Asked, i64)> {
    let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<String>>();
    let (keys, first, last) = (numbers(1), constant(10), constant(20));
    let org = "(SELECT array_agg(org ORDER BY key) FROM schedules)";
    let (name, id) = (
        "(SELECT array_agg(name ORDER BY key) FROM schedules)",
        "(SELECT array_agg(id ORDER BY key) FROM schedules)",
    );
    let tick = constant(95);
    let page = ["95", "7", "'id-7'", "NULL", "NULL", "NULL", "95", "10"];
    vec![
        // Of each schedule the newest row that has ended, that in flight, and what is armed.
        ((sql!("latest_of"), values(&[org, name, &tick, &keys])), BATCH * 12),
        ((sql!("upstream"), values(&[org, id, &tick, &keys])), BATCH * 12),
        ((sql!("kept_between"), values(&[&keys, &first, &last])), BATCH * 32),
        ((sql!("check_ticks"), values(&["7", "10", "20"])), 32),
        ((sql!("surplus_runs"), values(&["0", "1000", "50", "1000"])), BATCH * 60),
        ((sql!("list_runs_of"), values(&page)), 110),
    ]
}

async fn explain(client: &Client, (name, statement): (&str, &str), values: &[String]) -> Value {
    let begin = format!("BEGIN; SET LOCAL jit = off; {PATIENCE}; {}", Postgres::hot_path());
    client.batch_execute(&begin).await.expect("a transaction begins");
    client
        .batch_execute(&format!("PREPARE p AS {statement}"))
        .await
        .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    // Subqueries are no arguments: they are worked out first.
    let mut arguments = Vec::new();
    for value in values {
        let worked = client.simple_query(&format!("SELECT ({value})::text")).await.expect("a value");
        let row = worked.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_owned)),
            _ => None,
        });
        arguments.push(row.flatten().map_or("NULL".to_owned(), |text| format!("'{text}'")));
    }
    let explain = format!("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE p({})", arguments.join(", "));
    let said = client.simple_query(&explain).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    client.batch_execute("ROLLBACK; DEALLOCATE p").await.expect("it can be undone");
    let text: String = said
        .iter()
        .filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
        .collect();
    serde_json::from_str(&text).expect("JSON was asked for")
}

/// Scans of the large tables: how many rows they read, and whether one reads a table from end to end.
fn scans(node: &Value, found: &mut (f64, Vec<String>)) {
    let number = |name: &str| node[name].as_f64().unwrap_or_default();
    if matches!(
        node["Relation Name"].as_str(),
        Some("runs" | "schedule_state" | "audit_events" | "audit_seals")
    ) && node["Node Type"] != "ModifyTable"
    {
        found.0 += (number("Actual Rows") + number("Rows Removed by Filter")) * number("Actual Loops");
        if node["Node Type"] == "Seq Scan" {
            found.1.push(node["Relation Name"].to_string());
        }
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        scans(child, found);
    }
}

#[tokio::test]
async fn hot_statements_keep_their_plans_when_a_herd_has_come() {
    let ground = ground().await;
    let client = connect(&ground.url).await;
    client.batch_execute(HERD_MADE).await.unwrap();
    assert_eq!(client.query_one("SELECT count(*) FROM runs", &[]).await.unwrap().get::<_, i64>(0), HERD);
    for (statement, values) in before_the_launch().into_iter().chain(after_the_launch()) {
        let plan = explain(&client, statement, &values).await;
        let mut found = (0.0, Vec::new());
        scans(&plan[0]["Plan"], &mut found);
        assert!(found.1.is_empty(), "{} reads {:?} from end to end", statement.0, found.1);
        assert!(
            found.0 <= (BATCH * 4) as f64,
            "{} touches {} rows for a batch of {BATCH}: {plan:#}",
            statement.0,
            found.0
        );
    }
}

#[tokio::test]
async fn what_is_asked_of_a_schedule_is_found_in_the_index_of_what_ended_moves_or_is_armed() {
    let ground = ground().await;
    let client = connect(&ground.url).await;
    client.batch_execute(HISTORY_MADE).await.unwrap();
    for ((statement, values), rows_max) in of_schedules() {
        let plan = explain(&client, statement, &values).await;
        let mut found = (0.0, Vec::new());
        scans(&plan[0]["Plan"], &mut found);
        assert!(found.0 > 0.0, "{} finds nothing", statement.0);
        let is_scan = found.1.iter().any(|table| table.contains("runs"));
        assert!(!is_scan, "{} reads {:?} from end to end: {plan:#}", statement.0, found.1);
        assert!(
            found.0 <= rows_max as f64,
            "{} touches {} rows, more than {rows_max}: {plan:#}",
            statement.0,
            found.0
        );
    }
}

#[tokio::test]
async fn sealing_reads_an_event_a_few_times_at_most() {
    let ground = ground().await;
    let client = connect(&ground.url).await;
    client.batch_execute(EVENTS_MADE).await.unwrap();
    for first in ["", "ANALYZE"] {
        client.batch_execute(first).await.unwrap();
        let values = [BATCH.to_string(), "10000".to_owned()];
        let plan = explain(&client, sql!("unsealed_events"), &values).await;
        let mut found = (0.0, Vec::new());
        scans(&plan[0]["Plan"], &mut found);
        assert_eq!(plan[0]["Plan"]["Actual Rows"].as_f64(), Some(BATCH as f64));
        assert!(found.0 <= (EVENTS * 3) as f64, "it touches {} rows: {plan:#}", found.0);
    }
}
