//! What is PostgreSQL's own: roles and row security, transactions behind a pooler, lost connections, migrations at
//! once, notifications.

mod ground;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ground::{alive, at, batch, connect, create, cron, ground, node};
use jiff::ToSpan as _;
use punctual_plan::{Fence, Outcome, Overlap, Policy, RunStatus, plan};
use punctual_store::{
    Ask, AttemptToken, Commit, Cut, Error, Listed, PlanCommit, Postgres, PostgresSettings, Report, RunFilter,
    SHARDS, ScheduleFilter, ScheduleRow, Scope, Shards, Started, Store,
};

/// Nobody waits longer than this for what comes within a second or two.
const TOLD_WITHIN: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_tick_goes_from_its_plan_to_its_end() {
    let ground = ground().await;
    let store = &ground.store;
    let now = at("2026-03-01T10:00:00Z");
    let org = ground.org("acme").await;
    ground.make(org, cron("every-minute", "* * * * *"), now).await;
    let joined = store.join(node("a")).await.unwrap();
    let fence = joined.fence;
    assert!(joined.may_plan);

    let later = now + 90.seconds();
    let plannable = store.plannable(Ask::all(later)).await.unwrap();
    assert_eq!(plannable.ready.len(), 1);
    let one = &plannable.ready[0];
    assert_eq!((one.late.len(), one.outstanding), (1, 0), "a cron's next tick hangs on no other");
    let made = plan(&one.subject(None), punctual_plan::Window::at(later));
    let commit = PlanCommit {
        schedule: one.schedule,
        org: one.org,
        definition: one.definition.clone(),
        from: one.cursor,
        plan: made,
    };
    let id = batch(fence, later);
    assert_eq!(store.commit_plans(id, vec![commit.clone()]).await.unwrap(), [Commit::Done]);
    assert_eq!(
        store.commit_plans(id, vec![commit.clone()]).await.unwrap(),
        [Commit::Done],
        "the first answer"
    );
    assert_eq!(store.commit_plans(batch(fence, later), vec![commit]).await.unwrap(), [Commit::Stale]);

    let commits = ground.judged(later).await;
    assert_eq!(commits.len(), 1, "{commits:?}");
    let run = commits[0].row.due.run;
    assert_eq!(store.admit(batch(fence, later), commits.clone()).await.unwrap(), [Commit::Done]);
    assert_eq!(store.admit(batch(fence, later), commits).await.unwrap(), [Commit::Stale]);
    let started = Started { run, attempt: 1, at: later };
    assert_eq!(store.mark_running(batch(fence, later), vec![started]).await.unwrap(), [Commit::Done]);
    let report = Report {
        run,
        attempt: 1,
        token: AttemptToken::Node(fence),
        outcome: Outcome::Succeeded,
        started_at: Some(later),
        at: later + 1.second(),
        output: Some("done".to_owned()),
    };
    let settled = store.settle(batch(fence, later + 1.second()), vec![report.clone()]).await.unwrap();
    assert_eq!(settled[0].commit, Commit::Done);
    let settled = store.settle(batch(fence, later + 1.second()), vec![report]).await.unwrap();
    assert_eq!(settled[0].commit, Commit::Stale);
    let row = store.run(Scope::org(org), run).await.unwrap().unwrap();
    assert_eq!(row.run.state.status(), RunStatus::Success);
    assert_eq!((row.output.as_deref(), row.node.as_deref()), (Some("done"), Some("a")));
    let all = store.runs(Scope::org(org), RunFilter::default(), Cut::first(10)).await.unwrap();
    assert_eq!(all.rows.len(), 2, "one ended, one armed: {all:?}");
    assert!(store.check().await.unwrap().is_empty());
}

#[tokio::test]
async fn many_schedules_are_made_at_once_and_a_name_is_taken_once() {
    let ground = ground().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    let many: Vec<_> = (0..100).map(|n| create(cron(&format!("s{}", n % 99), "0 3 * * *"), now)).collect();
    let written = ground.store.write_schedules(Scope::org(org), many).await.unwrap();
    assert_eq!(written.iter().filter(|one| one.is_ok()).count(), 99);
    assert!(matches!(written[99], Err(Error::NameTaken { .. })));
}

#[tokio::test]
async fn one_that_the_server_cannot_store_takes_nobody_along() {
    let ground = ground().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    let store = Arc::new(ground.store);
    let making: Vec<_> = (0..20)
        .map(|number| {
            let mut schedule = cron(&format!("s{number}"), "0 3 * * *");
            schedule.description = (number == 7).then(|| "a zero \0 byte".to_owned());
            let store = Arc::clone(&store);
            tokio::spawn(
                async move { store.write_schedules(Scope::org(org), vec![create(schedule, now)]).await },
            )
        })
        .collect();
    for (number, one) in making.into_iter().enumerate() {
        let written = one.await.expect("no panic");
        assert_eq!(written.is_ok_and(|written| written[0].is_ok()), number != 7, "s{number}");
    }
}

/// Every table that has an org.
const ORG_TABLES: &[&str] = &[
    "orgs",
    "users",
    "calendars",
    "quiet_hours_policies",
    "templates",
    "workflows",
    "secrets",
    "limits",
    "declared_sets",
    "maintenance",
    "tokens",
    "schedules",
    "schedule_versions",
    "schedule_uses",
    "schedule_state",
    "runs",
    "attempts",
    "run_ranges",
    "audit_events",
    "audit_seals",
    "outbox",
    "circuit_breakers",
    "circuit_breaker_transitions",
    "guards",
    "lanes",
    "org_use",
    "requests",
];

#[tokio::test]
async fn the_application_role_sees_and_changes_nothing_of_another_org() {
    let ground = ground().await;
    let now = at("2026-03-01T10:00:00Z");
    let (acme, globex) = (ground.org("acme").await, ground.org("globex").await);
    ground.make(acme, cron("secret", "* * * * *"), now).await;
    ground.make(globex, cron("own", "* * * * *"), now).await;
    let client = connect(&ground.url).await;
    for (org, own) in [("", 0_i64), ("'2'", 1)] {
        let setting = if org.is_empty() { String::new() } else { format!("SET LOCAL punctual.org = {org};") };
        let begin = format!("BEGIN; SET LOCAL ROLE punctual_app; {setting}");
        for table in ORG_TABLES {
            client.batch_execute(&begin).await.unwrap();
            let key = if *table == "orgs" { "key" } else { "org" };
            let count = format!("SELECT count(*) FILTER (WHERE {key} <> 2), count(*) FROM {table}");
            let row = client.query_one(&count, &[]).await.unwrap();
            assert_eq!(row.get::<_, i64>(0), 0, "{table} shows another org's rows");
            if own == 0 {
                assert_eq!(row.get::<_, i64>(1), 0, "{table} shows rows to nobody");
            }
            client.batch_execute("ROLLBACK").await.unwrap();
            for change in ["DELETE FROM {t} WHERE {k} = 1", "UPDATE {t} SET {k} = {k} WHERE {k} = 1"] {
                client.batch_execute(&begin).await.unwrap();
                let change = change.replace("{t}", table).replace("{k}", key);
                // Not granted, or nothing found: never a row.
                assert!(matches!(client.execute(&change, &[]).await, Ok(0) | Err(_)), "{change}");
                client.batch_execute("ROLLBACK").await.unwrap();
            }
        }
    }
    for table in ["nodes", "installation", "shard_leases", "batches", "retention_pass", "migrations"] {
        client
            .batch_execute("BEGIN; SET LOCAL ROLE punctual_app; SET LOCAL punctual.org = '2'")
            .await
            .unwrap();
        assert!(
            client.query(&format!("SELECT * FROM {table}"), &[]).await.is_err(),
            "{table} is the engine's"
        );
        client.batch_execute("ROLLBACK").await.unwrap();
    }
}

#[tokio::test]
async fn a_duplicate_tells_nothing_of_another_org() {
    let ground = ground().await;
    let now = at("2026-03-01T10:00:00Z");
    let (acme, globex) = (ground.org("acme").await, ground.org("globex").await);
    let schedule = cron("same", "* * * * *");
    ground.make(acme, schedule.clone(), now).await;
    ground.make(globex, schedule, now).await;
    let seen =
        ground.store.schedules(Scope::org(globex), ScheduleFilter::default(), Cut::first(10)).await.unwrap();
    assert_eq!(seen.rows.len(), 1);
    // Writing for another org is refused by the policy, whether its row is there or not.
    let client = connect(&ground.url).await;
    let mut said = Vec::new();
    for name in ["same", "other"] {
        client
            .batch_execute("BEGIN; SET LOCAL ROLE punctual_app; SET LOCAL punctual.org = '2'")
            .await
            .unwrap();
        let insert = format!(
            "INSERT INTO schedules (org, id, name, tags, spec, version, created_at, updated_at) \
             VALUES (1, 'x-{name}', '{name}', '[]', '', 1, 0, 0)"
        );
        said.push(client.execute(&insert, &[]).await.unwrap_err().code().cloned());
        client.batch_execute("ROLLBACK").await.unwrap();
    }
    assert_eq!(said[0], said[1]);
}

#[tokio::test]
async fn two_nodes_may_migrate_at_once() {
    let url = ground::database().await;
    let open = || Postgres::open(PostgresSettings::new(&url));
    let (a, b, c) = tokio::join!(open(), open(), open());
    for store in [a, b, c] {
        store.expect("one made the schema, the others found it").now().await.unwrap();
    }
    let client = connect(&url).await;
    client.batch_execute("INSERT INTO migrations VALUES (99, 'later', '', 0)").await.unwrap();
    let refused = open().await.err().expect("a newer schema is refused");
    assert!(matches!(refused, Error::Newer { found: 99, known: 2 }), "{refused}");
    client
        .batch_execute("DELETE FROM migrations WHERE version = 99; UPDATE migrations SET checksum = ''")
        .await
        .unwrap();
    assert!(matches!(open().await.err(), Some(Error::Corrupt { .. })));
}

#[tokio::test]
async fn one_connection_serves_two_orgs_in_turn_without_prepared_statements() {
    let url = ground::database().await;
    let settings = PostgresSettings { connections: 1, is_prepared: false, ..PostgresSettings::new(&url) };
    let ground = ground::Ground { store: Postgres::open(settings).await.unwrap(), url };
    let now = at("2026-03-01T10:00:00Z");
    let (acme, globex) = (ground.org("acme").await, ground.org("globex").await);
    for (org, name) in [(acme, "a"), (globex, "b"), (acme, "c")] {
        ground.make(org, cron(name, "* * * * *"), now).await;
    }
    let list = |org| ground.store.schedules(Scope::org(org), ScheduleFilter::default(), Cut::first(10));
    let (a, b) = tokio::join!(list(acme), list(globex));
    let names = |page: Listed<ScheduleRow>| -> Vec<String> {
        page.rows.iter().map(|row| row.definition.name.clone()).collect()
    };
    assert_eq!((names(a.unwrap()), names(b.unwrap())), (vec!["a".into(), "c".into()], vec!["b".into()]));
    let due = ground.store.due(Ask::all(now + 61.seconds())).await.unwrap();
    let orgs: Vec<i64> = due.rows.iter().map(|row| row.due.org.0).collect();
    assert_eq!(orgs, [acme.0, globex.0, acme.0], "round-robin");
}

#[tokio::test]
async fn a_lost_connection_is_a_passing_fault() {
    let ground = ground().await;
    let store = &ground.store;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    let client = connect(&ground.url).await;
    // Idle connections that died are replaced without a word.
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                WHERE application_name = 'punctual' AND datname = current_database()";
    client.batch_execute(kill).await.unwrap();
    ground.make(org, cron("one", "* * * * *"), now).await;
    // One that dies in the middle of its work fails with an error that says so; the same call works afterwards.
    let lock = connect(&ground.url).await;
    lock.batch_execute("BEGIN; LOCK TABLE schedule_state IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let busy = store.plannable(Ask::all(now + 2.minutes()));
    let cut = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'punctual' \
                       AND datname = current_database() AND wait_event_type = 'Lock'";
        while client.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
        client.batch_execute(kill).await.unwrap();
    };
    let (failed, ()) = tokio::join!(busy, cut);
    let failed = failed.expect_err("its connection is gone");
    assert!(failed.is_transient(), "{failed}");
    assert!(failed.to_string().contains("looking for schedules to plan"), "{failed}");
    lock.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(store.plannable(Ask::all(now + 2.minutes())).await.unwrap().ready.len(), 1);
}

#[tokio::test]
async fn a_batch_holds_its_rows_from_the_lowest_key_on() {
    let ground = ground().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    let policy = Policy { lane: Some("shared".to_owned()), overlap: Overlap::Queue, ..Policy::default() };
    for name in ["a", "b", "c"] {
        ground.make(org, ground::with(cron(name, "* * * * *"), policy.clone()), now).await;
    }
    let later = now + 61.seconds();
    let id = batch(ground.store.join(node("a")).await.unwrap().fence, later);
    let verdicts = ground.judged(later).await;
    let runs: BTreeSet<i64> = verdicts.iter().map(|commit| commit.admission.run.0).collect();
    let (first, last) = (runs.first().unwrap(), runs.last().unwrap());
    let (holder, looker) = (connect(&ground.url).await, connect(&ground.url).await);
    holder.batch_execute(&format!("BEGIN; SELECT FROM runs WHERE key = {first} FOR UPDATE")).await.unwrap();
    let look = async {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'punctual' \
                       AND datname = current_database() AND wait_event_type = 'Lock'";
        while looker.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
        let free = format!("SELECT FROM runs WHERE key = {last} FOR UPDATE NOWAIT");
        let free = looker.batch_execute(&free).await;
        holder.batch_execute("ROLLBACK").await.unwrap();
        free
    };
    let (admitted, free) = tokio::join!(ground.store.admit(id, verdicts), look);
    assert_eq!(admitted.unwrap(), [Commit::Done; 3]);
    free.expect("whoever waits for the first of its rows holds none behind it");
}

#[tokio::test]
async fn a_change_elsewhere_is_heard() {
    let ground = ground().await;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    let other = Postgres::open(PostgresSettings::new(&ground.url)).await.unwrap();
    // The first call opens the line; it ends at the latest when it is time to look anyway.
    other.changed().await;
    let heard = std::time::Instant::now();
    let (key, ()) = tokio::join!(ground.make(org, cron("one", "* * * * *"), now), other.changed());
    assert!(key.0 > 0 && heard.elapsed() < std::time::Duration::from_secs(30));
}

#[tokio::test]
async fn a_fenced_node_has_no_say_and_its_runs_are_taken_over() {
    let ground = ground().await;
    let store = &ground.store;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    ground.make(org, cron("one", "* * * * *"), now).await;
    let (old, new) =
        (store.join(node("old")).await.unwrap().fence, store.join(node("new")).await.unwrap().fence);
    let later = now + 61.seconds();
    let commits = ground.judged(later).await;
    let run = commits[0].row.due.run;
    assert_eq!(store.admit(batch(old, later), commits).await.unwrap(), [Commit::Done]);
    assert!(store.take_over(new, 10).await.unwrap().is_empty(), "the old node's lease is not over");
    store.leave(old).await.unwrap();
    let taken = store.take_over(new, 10).await.unwrap();
    assert_eq!((taken.len(), taken[0].launch.run, taken[0].launch.attempt), (1, run, 1));
    let report = |fence| Report {
        run,
        attempt: 1,
        token: AttemptToken::Node(fence),
        outcome: Outcome::Exited { code: 1 },
        started_at: None,
        at: later,
        output: None,
    };
    assert_eq!(store.settle(batch(old, later), vec![report(old)]).await.unwrap()[0].commit, Commit::Stale);
    assert_eq!(store.settle(batch(new, later), vec![report(new)]).await.unwrap()[0].commit, Commit::Done);
    let beat = store.heartbeat(alive(new)).await.unwrap();
    assert_eq!(beat.shards, Shards::All);
    assert!(matches!(store.heartbeat(alive(old)).await, Err(Error::LeaseLost)));
    assert_eq!(store.check().await.unwrap(), []);
}

/// The shards of nodes after each has beaten as often as it takes.
async fn shares(store: &Postgres, fences: &[Fence]) -> Vec<BTreeSet<u16>> {
    let mut shares = Vec::new();
    for _ in 0..2 {
        shares.clear();
        for fence in fences {
            shares.push(match store.heartbeat(alive(*fence)).await.expect("it lives").shards {
                Shards::All => (0..SHARDS).collect(),
                Shards::Some(shards) => shards.into_iter().collect::<BTreeSet<u16>>(),
            });
        }
    }
    shares
}

#[tokio::test]
async fn a_node_keeps_its_shards_when_others_come_and_go() {
    let ground = ground().await;
    let store = &ground.store;
    let mut fences = Vec::new();
    let mut before: Vec<BTreeSet<u16>> = Vec::new();
    for name in ["a", "b", "c", "d"] {
        fences.push(store.join(node(name)).await.unwrap().fence);
        let after = shares(store, &fences).await;
        assert_eq!(after.iter().flatten().collect::<BTreeSet<_>>().len(), usize::from(SHARDS));
        let fair = usize::from(SHARDS) / fences.len();
        assert!(after.iter().all(|share| share.len().abs_diff(fair) <= 1), "{after:?}");
        assert!(before.iter().zip(&after).all(|(before, after)| after.is_subset(before)), "{name} came");
        before = after;
    }
    for gone in [1, 0] {
        store.leave(fences.remove(gone)).await.unwrap();
        before.remove(gone);
        let after = shares(store, &fences).await;
        assert_eq!(after.iter().map(BTreeSet::len).sum::<usize>(), usize::from(SHARDS));
        assert!(before.iter().zip(&after).all(|(before, after)| before.is_subset(after)), "one went");
        before = after;
    }
}

#[tokio::test]
async fn altered_rows_are_found() {
    let ground = ground().await;
    let store = &ground.store;
    let (org, now) = (ground.org("acme").await, at("2026-03-01T10:00:00Z"));
    ground.make(org, cron("one", "* * * * *"), now).await;
    store.seal_audit(100).await.unwrap();
    assert_eq!(store.check().await.unwrap(), []);
    assert_eq!(store.verify_audit(Scope::org(org)).await.unwrap().checked, 1);
    let client = connect(&ground.url).await;
    for (alter, table) in [
        ("UPDATE runs SET scheduled_for = scheduled_for + 1", "runs"),
        ("UPDATE schedule_state SET planned_through = planned_through + 7200000000", "schedule_state"),
        (
            "ALTER TABLE audit_events DISABLE TRIGGER ALL; UPDATE audit_events SET detail = 'x'",
            "audit_events",
        ),
    ] {
        client.batch_execute(alter).await.unwrap();
        let found = store.check().await.unwrap();
        assert!(found.iter().any(|finding| finding.table == table), "{alter}: {found:?}");
    }
    assert!(store.verify_audit(Scope::org(org)).await.unwrap().broken.is_some());
}

#[tokio::test]
async fn what_is_committed_late_is_read_and_sealed_all_the_same() {
    let ground = ground().await;
    let (store, org) = (&ground.store, ground.org("acme").await);
    let (slow, quick) = (connect(&ground.url).await, connect(&ground.url).await);
    let written = |name: &str, run: i64| {
        format!(
            "INSERT INTO outbox (org, run, attempt, message_id, body, at) \
             VALUES ({0}, {run}, 1, '{name}', '{{}}', 0); \
             INSERT INTO audit_events (org, at, kind, detail) VALUES ({0}, 0, 'test', '{name}')",
            org.0
        )
    };
    // It has the lower numbers, and is not there yet when others are read.
    slow.batch_execute(&format!("BEGIN; {}", written("slow", 1))).await.unwrap();
    quick.batch_execute(&written("quick", 2)).await.unwrap();
    let next = async |after: i64| {
        store.sequence_outbox().await.unwrap();
        store.seal_audit(100).await.unwrap();
        let rows = store.outbox(Scope::org(org), after, 10).await.unwrap();
        let names = rows.iter().map(|row| row.message_id.clone()).collect::<Vec<_>>();
        (names, rows.last().map_or(after, |row| row.position))
    };
    let (names, place) = next(0).await;
    assert_eq!(names, ["quick"]);
    let before = store.verify_audit(Scope::org(org)).await.unwrap();
    slow.batch_execute("COMMIT").await.unwrap();
    assert_eq!(next(place).await.0, ["slow"]);
    let chain = store.verify_audit(Scope::org(org)).await.unwrap();
    assert_eq!((chain.checked, chain.unsealed, chain.broken), (before.checked + 1, 0, None));
}

#[tokio::test]
async fn a_change_of_which_nobody_is_told_is_looked_for_all_the_same() {
    let ground = ground().await;
    // As behind a pooler that swallows notifications: it writes, and says nothing.
    let silent = connect(&ground.url).await;
    silent.batch_execute("INSERT INTO orgs (id, created_at) VALUES ('silent', 0)").await.unwrap();
    let looked = tokio::time::timeout(TOLD_WITHIN, ground.store.changed()).await;
    assert!(looked.is_ok(), "whoever waits for changes is woken by nothing but a word of one");
}
