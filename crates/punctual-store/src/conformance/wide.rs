//! The database as a whole: what there is, and that a check finds what was altered.

use super::Backend;
use super::copy::{copy_with, everything};
use super::stage::{Stage, at, cron};
use crate::{Ask, Cell, Store, Table};

/// The tables are counted.
pub async fn the_status_counts_the_tables<B: Backend>(backend: &B) {
    let stage = Stage::open(backend).await;
    stage.create(cron("one", "*/20 * * * * *"), at("10:00:05")).await;
    let status = stage.store.status().await.expect("answers");
    let count = |table| status.rows.iter().find(|(of, _)| *of == table).map(|(_, count)| *count);
    assert_eq!((count(Table::Schedules), count(Table::Runs)), (Some(1), Some(3)));
    assert_eq!((count(Table::ScheduleState), count(Table::AuditEvents)), (Some(1), Some(1)));
    assert!(status.schema >= 1 && !status.place.is_empty());
}

/// A store in which everything happened has nothing to find.
pub async fn a_busy_store_is_clean<B: Backend>(backend: &B) {
    let stage = everything(backend).await;
    let findings = stage.store.check().await.expect("answers");
    assert!(findings.is_empty(), "{findings:?}");
}

/// Copies a store, one cell altered on the way, and checks the copy.
async fn check_altered<B: Backend>(backend: &B, alter: impl Fn(Table, &mut Vec<Vec<Cell>>)) {
    let from = everything(backend).await;
    let to = backend.open().await;
    copy_with(&*from.store, &to, alter).await;
    let findings = to.check().await.expect("answers");
    assert!(!findings.is_empty(), "what was altered is found");
}

/// An altered audit event does not fit its seal.
pub async fn an_altered_event_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::AuditEvents {
            rows[0][7] = Cell::Text("something else".to_owned());
        }
    })
    .await;
}

/// A run moved to another instant leaves a hole and is foreign where it stands.
pub async fn a_moved_run_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::Runs
            && let Some(row) = rows.iter_mut().find(|row| row[4] == Cell::Text("tick".to_owned()))
            && let Cell::Integer(second) = &mut row[1]
        {
            *second += 1;
        }
    })
    .await;
}

/// A run that vanished leaves a hole.
pub async fn a_vanished_run_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::Runs {
            let place = rows.iter().position(|row| row[9] == Cell::Text("scheduled".to_owned()));
            rows.remove(place.expect("something is armed"));
        }
    })
    .await;
}

/// An ended run that still wants to be looked at is found.
pub async fn an_ended_run_that_wants_a_look_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::Runs {
            let ended = rows.iter_mut().find(|row| row[9] == Cell::Text("success".to_owned()));
            ended.expect("something ended")[8] = Cell::Integer(1);
        }
    })
    .await;
}

/// A cursor that was set on is found.
pub async fn a_moved_cursor_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::ScheduleState
            && let Some(Cell::Integer(planned)) = rows[0].get_mut(8)
        {
            *planned += 3_600_000_000;
        }
    })
    .await;
}

/// A claim whose run is not in flight is found.
pub async fn a_claim_without_its_run_is_found<B: Backend>(backend: &B) {
    check_altered(backend, |table, rows| {
        if table == Table::Guards {
            rows.push(vec![Cell::Integer(1), Cell::Text("stray".to_owned()), Cell::Integer(1)]);
        }
    })
    .await;
}

/// A definition that cannot be read any more is named and stops nobody.
pub async fn an_unreadable_definition_stops_nobody<B: Backend>(backend: &B) {
    let from = Stage::open(backend).await;
    for name in ["good", "bad"] {
        from.create(cron(name, "*/20 * * * * *"), at("10:00:05")).await;
    }
    let to = backend.open().await;
    copy_with(&*from.store, &to, |table, rows| {
        let place = match table {
            Table::Schedules => 8,
            Table::ScheduleVersions => 5,
            _ => return,
        };
        for row in rows {
            if let Cell::Text(definition) = &mut row[place]
                && definition.contains("\"name\":\"bad\"")
            {
                *definition = definition.replace("*/20", "*/0");
            }
        }
    })
    .await;
    let planned = to.plannable(Ask::all(at("10:00:55"))).await.expect("answers");
    assert_eq!((planned.ready.len(), planned.unreadable.len()), (1, 1));
    assert_eq!(planned.ready[0].definition.name, "good");
    let due = to.due(Ask::all(at("10:00:20"))).await.expect("answers");
    assert_eq!((due.rows.len(), due.unreadable.len()), (1, 1));
    let stage = Stage::on(to, "three").await;
    let row = stage.row("bad").await;
    assert!(row.invalid.is_some() && row.definition.name == "bad", "it is still shown");
}
