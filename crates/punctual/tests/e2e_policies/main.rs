//! Goal: every value of every policy does what it says, seen from outside: through the program, on both databases.
//! Method: a table of schedules, the world that lets their policies count, and what the ledger has to show. All rows
//! live in the same few seconds: two servers, one after the other, with a `kill -9` and an outage between them. No
//! claim depends on when exactly something happened. The values come from the enums and the keys from the schema, so
//! one that is new needs a row. Nights in which the clock changes are past ones, run by a backfill.

#[path = "../e2e_program/database.rs"]
mod database;
#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "the other end-to-end tests use the rest of it")]
mod driver;
mod ground;
mod life;
mod row;
mod rows_bounds;
mod rows_deeds;
mod rows_dst;
mod rows_failure;
mod rows_late;
mod rows_order;
mod rows_turn;
mod seen;
mod whole;

use ground::Ground;
use row::Row;

/// The table.
fn rows() -> Vec<Row> {
    [
        rows_turn::rows(),
        rows_late::rows(),
        rows_failure::rows(),
        rows_order::rows(),
        rows_bounds::rows(),
        rows_deeds::rows(),
        rows_dst::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Lives through everything on one database and judges each row.
fn judge(ground: &Ground) {
    let rows = rows();
    let seen = life::live(ground, &rows);
    let mut wrong = String::new();
    for (row, claim, holds) in
        rows.iter().flat_map(|row| row.claims.iter().map(move |one| (row, one.0, one.1)))
    {
        if !holds(&seen) {
            wrong += &format!("{}: not so: {claim}\n", row.title());
            wrong += &row.schedules.iter().map(|(name, _)| seen.story(name)).collect::<String>();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_policy_does_what_it_says_on_sqlite() {
    judge(&Ground::sqlite());
}

#[test]
fn every_policy_does_what_it_says_on_postgres() {
    judge(&Ground::postgres());
}
