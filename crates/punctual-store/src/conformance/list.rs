//! Lists: ordered, filtered, and cut into pages that neither lose nor repeat a row.

use punctual_plan::{Origin, RunStatus};

use super::Backend;
use super::stage::{Stage, at, cron, id_of};
use crate::{AuditFilter, Cut, Error, RunFilter, ScheduleFilter, Selector, Store, Write};

/// Schedules come by name, page by page.
pub async fn schedules_come_by_name_in_pages<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["e", "b", "d", "a", "c"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let (mut names, mut cut, mut pages) = (Vec::new(), Cut::first(2), 0);
    loop {
        let listed =
            stage.store.schedules(stage.scope(), ScheduleFilter::default(), cut).await.expect("answers");
        names.extend(listed.rows.into_iter().map(|row| row.definition.name.clone()));
        pages += 1;
        match listed.next {
            Some(next) => cut = Cut { after: Some(next), limit: 2 },
            None => break,
        }
    }
    assert_eq!((names.join(" ").as_str(), pages), ("a b c d e", 3));
}

/// Names come with their ids, those of deleted schedules among them, page by page.
pub async fn names_come_with_ids_in_pages<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["e", "b", "d", "a", "c"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let deletion = stage.deletion("b", at("10:00:10")).await;
    stage.write(deletion).await;
    let (mut rows, mut cut, mut pages) = (Vec::new(), Cut::first(2), 0);
    loop {
        let listed = stage.store.names(stage.scope(), cut).await.expect("answers");
        rows.extend(listed.rows);
        pages += 1;
        match listed.next {
            Some(next) => cut = Cut { after: Some(next), limit: 2 },
            None => break,
        }
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!((names.join(" ").as_str(), pages), ("a b c d e", 3));
    for row in &rows {
        assert_eq!((row.is_deleted, row.declared_set.is_some()), (row.name == "b", false));
        let found = stage.store.schedule(stage.scope(), Selector::Id(row.id)).await.expect("answers");
        assert_eq!(
            found.map(|found| (found.key, found.definition.name.clone())),
            Some((row.key, row.name.clone()))
        );
    }
    let all = stage.store.names(crate::Scope::Engine, Cut::first(10)).await.expect("answers");
    assert_eq!(all.rows.len(), 5);
}

/// A filter holds for every row, and all of them must hold.
pub async fn schedules_are_filtered<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let mut nightly = cron("Nightly-Backup", "0 3 * * *");
    nightly.description = Some("copies the LEDGER away".to_owned());
    nightly.tags = vec!["ops".to_owned(), "night".to_owned()];
    nightly.owner.user_id = Some("grace".to_owned());
    let mut write = stage.creation(nightly, at("10:00:05"));
    if let Write::Create { declared_set, .. } = &mut write.write {
        *declared_set = Some("main.yaml".to_owned());
    }
    stage.write(write).await;
    stage.create(cron("report", "*/5 * * * *"), at("10:00:05")).await;
    let pause = stage.pause("report", at("10:00:06")).await;
    stage.write(pause).await;
    let found = async |filter: ScheduleFilter| {
        let listed = stage.store.schedules(stage.scope(), filter, Cut::first(10)).await.expect("answers");
        listed.rows.iter().map(|row| row.definition.name.clone()).collect::<Vec<_>>().join(" ")
    };
    let none = ScheduleFilter::default;
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found(ScheduleFilter { search: text("backup"), ..none() }).await, "Nightly-Backup");
    assert_eq!(found(ScheduleFilter { search: text("ledger"), ..none() }).await, "Nightly-Backup");
    assert_eq!(found(ScheduleFilter { search: text("*/5"), ..none() }).await, "report");
    assert_eq!(found(ScheduleFilter { search: text("%"), ..none() }).await, "", "no wildcards");
    assert_eq!(found(ScheduleFilter { tag: text("night"), ..none() }).await, "Nightly-Backup");
    assert_eq!(found(ScheduleFilter { tag: text("nigh"), ..none() }).await, "", "whole tags");
    assert_eq!(found(ScheduleFilter { status: text("paused_manual"), ..none() }).await, "report");
    assert_eq!(found(ScheduleFilter { user_id: text("grace"), ..none() }).await, "Nightly-Backup");
    assert_eq!(found(ScheduleFilter { declared_set: text("main.yaml"), ..none() }).await, "Nightly-Backup");
    let both = ScheduleFilter { tag: text("ops"), status: text("paused_manual"), ..none() };
    assert_eq!(found(both).await, "");
}

/// Deleted schedules are listed when asked for.
pub async fn deleted_schedules_are_listed_when_asked_for<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "1 10 * * *"), at("10:00:05")).await;
    }
    let deletion = stage.deletion("a", at("10:00:10")).await;
    stage.write(deletion).await;
    let count = async |with_deleted| {
        let filter = ScheduleFilter { with_deleted, ..ScheduleFilter::default() };
        stage.store.schedules(stage.scope(), filter, Cut::first(10)).await.expect("answers").rows.len()
    };
    assert_eq!((count(false).await, count(true).await), (1, 2));
}

/// A schedule is found by id, by the beginning of its id, and by name.
pub async fn a_schedule_is_found_by_any_of_its_names<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let (mut one, mut two) = (cron("one", "1 10 * * *"), cron("two", "1 10 * * *"));
    one.id = punctual_plan::ScheduleId("aaaa0000-0000-7000-8000-000000000001".parse().expect("an id"));
    two.id = punctual_plan::ScheduleId("aaaa1111-0000-7000-8000-000000000002".parse().expect("an id"));
    let id = one.id;
    stage.create(one, at("10:00:05")).await;
    stage.create(two, at("10:00:05")).await;
    let find = async |selector| stage.store.schedule(stage.scope(), selector).await;
    let name = async |selector| find(selector).await.expect("answers").map(|row| row.definition.name.clone());
    assert_eq!(name(Selector::Id(id)).await.as_deref(), Some("one"));
    assert_eq!(name(Selector::IdPrefix("aaaa1".to_owned())).await.as_deref(), Some("two"));
    assert_eq!(name(Selector::Name("two".to_owned())).await.as_deref(), Some("two"));
    assert_eq!(name(Selector::Name("three".to_owned())).await, None);
    assert_eq!(name(Selector::IdPrefix("bbbb".to_owned())).await, None);
    let ambiguous = find(Selector::IdPrefix("aaaa".to_owned())).await;
    assert!(matches!(ambiguous, Err(Error::Ambiguous { .. })), "{ambiguous:?}");
}

/// Runs come newest tick first, page by page.
pub async fn runs_come_newest_first_in_pages<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for name in ["a", "b"] {
        stage.create(cron(name, "*/20 * * * * *"), at("10:00:05")).await;
    }
    let (mut ticks, mut cut) = (Vec::new(), Cut::first(4));
    loop {
        let listed = stage.store.runs(stage.scope(), RunFilter::default(), cut).await.expect("answers");
        assert!(listed.rows.len() <= 4);
        ticks.extend(listed.rows.iter().map(|row| (row.run.scheduled_for, row.run.key)));
        match listed.next {
            Some(next) => cut = Cut { after: Some(next), limit: 4 },
            None => break,
        }
    }
    assert_eq!(ticks.len(), 6);
    assert!(ticks.windows(2).all(|pair| pair[0].0 >= pair[1].0 && pair[0] != pair[1]), "{ticks:?}");
}

/// Runs are filtered by schedule, state, origin and time.
pub async fn runs_are_filtered<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let key = stage.create(cron("a", "*/20 * * * * *"), at("10:00:05")).await;
    stage.create(cron("b", "*/20 * * * * *"), at("10:00:05")).await;
    stage.run_due(at("10:00:20")).await;
    stage.trigger(key, "mine", at("10:00:30")).await;
    let count = async |filter| {
        stage.store.runs(stage.scope(), filter, Cut::first(100)).await.expect("answers").rows.len()
    };
    let none = RunFilter::default;
    assert_eq!(count(none()).await, 7);
    assert_eq!(count(RunFilter { schedule: Some(id_of("a")), ..none() }).await, 4);
    assert_eq!(count(RunFilter { schedule: Some(id_of("nobody")), ..none() }).await, 0);
    assert_eq!(count(RunFilter { status: Some(RunStatus::Success), ..none() }).await, 2);
    assert_eq!(count(RunFilter { origin: Some(Origin::Manual), ..none() }).await, 1);
    assert_eq!(count(RunFilter { since: Some(at("10:00:40")), ..none() }).await, 4);
    assert_eq!(count(RunFilter { until: Some(at("10:00:20")), ..none() }).await, 2);
}

/// Audit events come newest first and are filtered by kind, schedule and time.
pub async fn events_are_listed_and_filtered<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    for (name, now) in [("a", "10:00:05"), ("b", "10:00:06"), ("c", "10:00:07")] {
        stage.create(cron(name, "1 10 * * *"), at(now)).await;
    }
    let list = async |filter, cut| stage.store.audit(stage.scope(), filter, cut).await.expect("answers");
    let first = list(AuditFilter::default(), Cut::first(2)).await;
    assert_eq!((first.rows.len(), first.rows[0].at), (2, at("10:00:07")));
    let rest = list(AuditFilter::default(), Cut { after: first.next, limit: 2 }).await;
    assert_eq!((rest.rows.len(), rest.rows[0].at, rest.next), (1, at("10:00:05"), None));
    let none = AuditFilter::default;
    let count = async |filter| list(filter, Cut::first(10)).await.rows.len();
    assert_eq!(count(AuditFilter { kind: Some("schedule.".to_owned()), ..none() }).await, 3);
    assert_eq!(count(AuditFilter { kind: Some("breaker.".to_owned()), ..none() }).await, 0);
    assert_eq!(count(AuditFilter { schedule: Some(id_of("b")), ..none() }).await, 1);
    assert_eq!(count(AuditFilter { since: Some(at("10:00:06")), ..none() }).await, 2);
    assert_eq!(count(AuditFilter { until: Some(at("10:00:06")), ..none() }).await, 2);
}

/// What belongs to the installation is in nobody's log, and sealed like any other.
pub async fn events_of_the_installation_are_no_tenants<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    let event = punctual_plan::Event::ClockStepped { node: "n1".to_owned(), by: super::stage::seconds(-90) };
    stage.store.note(at("10:00:05"), event).await.expect("answers");
    assert!(stage.events("clock").await.is_empty());
    let installation = stage.other(crate::INSTALLATION).await;
    let kind = Some("clock.".to_owned());
    let filter = AuditFilter { kind, since: Some(at("10:00:00")), ..AuditFilter::default() };
    let listed = stage.store.audit(installation.clone(), filter, Cut::first(10)).await.expect("answers");
    let told: Vec<_> =
        listed.rows.iter().map(|row| (row.at, row.kind.as_str(), row.detail.as_str())).collect();
    let detail = "the clock of node `n1` was set back by 90.000 s";
    assert_eq!(told, [(at("10:00:05"), "clock.stepped", detail)]);
    stage.store.seal_audit(100).await.expect("answers");
    assert_eq!(stage.store.verify_audit(installation).await.expect("answers").unsealed, 0);
}

/// Counts are those of the org.
pub async fn counts_are_those_of_the_scope<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("a", "*/20 * * * * *"), at("10:00:05")).await;
    stage.run_due(at("10:00:20")).await;
    let other = stage.other("other").await;
    stage
        .write_in(other.clone(), stage.creation(cron("x", "1 10 * * *"), at("10:00:05")))
        .await
        .expect("made");
    let living = async |scope| stage.store.living(scope).await.expect("answers");
    let unplanned = async |scope, now| stage.store.unplanned(scope, now).await.expect("answers");
    assert_eq!((living(stage.scope()).await, living(crate::Scope::Engine).await), (1, 2));
    assert_eq!(unplanned(stage.scope(), at("10:00:20")).await, 0);
    // Nobody has planned it for minutes; the other one ticked in the first of them, and tomorrow.
    let later = at("10:09:00");
    assert_eq!((unplanned(stage.scope(), later).await, unplanned(crate::Scope::Engine, later).await), (1, 1));
    stage.write(stage.deletion("a", at("10:09:00")).await).await;
    assert_eq!((living(stage.scope()).await, unplanned(stage.scope(), later).await), (0, 0));
}
