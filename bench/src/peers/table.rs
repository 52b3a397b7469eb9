//! The table: a line for each peer and for each of our databases, with a column for every story.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::Failure;
use crate::options::Kind;
use crate::report::{self, Sheet};

use super::options::Part;
use super::ours::Ours;
use super::peer::{Kept, Peer};
use super::story::Told;

const HEAD: &[&str] = &[
    "scheduler",
    "kept in",
    "herd",
    "first ms",
    "p50 ms",
    "last ms",
    "to ours",
    "each second",
    "missing",
    "p99 ms",
    "killed at",
    "not run",
    "doubled",
    "restart ms",
    "outage s",
    "ran",
];

/// A line.
#[derive(Default)]
struct Row {
    name: String,
    kept: &'static str,
    told: Vec<Told>,
    /// Why a story, or all of them, could not be told.
    problems: Vec<String>,
}

/// Everything that was measured.
#[derive(Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// The last starts of our herds, by database and size.
    ours: BTreeMap<(&'static str, u32), f64>,
}

impl Table {
    pub(super) fn ours(&mut self, kind: Kind, ours: Ours) {
        let Ours { told, mut problems } = ours;
        for one in &told {
            if let Told::Herd { schedules, last, .. } = one {
                self.ours.insert((kind.name(), *schedules), *last);
            }
        }
        // One line for each size of the herd; the rest stands in that of the largest.
        let (herds, mut rest): (Vec<Told>, Vec<Told>) =
            told.into_iter().partition(|one| matches!(one, Told::Herd { .. }));
        let lines = herds.into_iter().rev().map(|herd| vec![herd]);
        let lines: Vec<Vec<Told>> = lines.collect();
        for mut told in if lines.is_empty() { vec![Vec::new()] } else { lines } {
            told.append(&mut rest);
            let problems = std::mem::take(&mut problems);
            self.rows.push(Row { name: "Punctual".to_owned(), kept: kind.name(), told, problems });
        }
    }

    pub(super) fn add(&mut self, peer: &Peer, told: Told) {
        self.row(peer).told.push(told);
    }

    pub(super) fn failed(&mut self, peer: &Peer, part: Part, problem: &str) {
        self.row(peer).problems.push(format!("{}: {problem}", part.name()));
    }

    pub(super) fn absent(&mut self, peer: &Peer, why: &str) {
        self.row(peer).problems.push(format!("cannot be had here: {why}"));
    }

    fn row(&mut self, peer: &Peer) -> &mut Row {
        let name = format!("{} {}", peer.name, peer.version);
        let at = self.rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            self.rows.push(Row { name, kept: peer.kept.name(), ..Row::default() });
            self.rows.len() - 1
        });
        &mut self.rows[at]
    }

    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new("peers", HEAD);
        for row in &self.rows {
            sheet.add(self.cells(row), self.json(row));
        }
        sheet
    }

    /// The table, and under it what could not be told.
    pub(super) fn text(&self) -> String {
        let mut text = self.sheet().text();
        for row in &self.rows {
            text.extend(row.problems.iter().map(|problem| format!("{}: {problem}\n", row.name)));
        }
        text
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), Failure> {
        report::write(path, &[self.sheet()])
    }

    /// How much later the last start of a herd was than ours, on the like of its database.
    fn ratio(&self, row: &Row) -> Option<f64> {
        let kept = if row.kept == Kept::Postgres.name() { Kind::Postgres } else { Kind::Sqlite };
        row.told.iter().find_map(|told| match told {
            Told::Herd { schedules, last, .. } => Some(last / self.ours.get(&(kept.name(), *schedules))?),
            _ => None,
        })
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let mut cells = vec!["-".to_owned(); HEAD.len()];
        (cells[0], cells[1]) = (row.name.clone(), row.kept.to_owned());
        if let Some(ratio) = self.ratio(row) {
            cells[6] = format!("{ratio:.1}");
        }
        for told in &row.told {
            match told {
                Told::Herd { schedules, first, middle, last, not_run, .. } => {
                    cells[2] = if *not_run == 0 {
                        schedules.to_string()
                    } else {
                        format!("{schedules} (-{not_run})")
                    };
                    (cells[3], cells[4]) = (format!("{first:.0}"), format!("{middle:.0}"));
                    cells[5] = format!("{last:.0}");
                }
                Told::Steady { schedules, missing, p99, .. } => {
                    (cells[7], cells[8], cells[9]) =
                        (schedules.to_string(), missing.to_string(), format!("{p99:.0}"));
                }
                Told::Crash { schedules, started, not_run, doubled, last, .. } => {
                    (cells[10], cells[11]) = (format!("{started}/{schedules}"), not_run.to_string());
                    cells[12] = doubled.to_string();
                    cells[13] = last.map_or("-".to_owned(), |last| format!("{last:.0}"));
                }
                Told::Outage { schedules, ran, gap_s } => {
                    (cells[14], cells[15]) = (gap_s.to_string(), format!("{ran}/{schedules}"));
                }
            }
        }
        cells
    }

    fn json(&self, row: &Row) -> Value {
        let stories: Vec<Value> = row.told.iter().map(story).collect();
        json!({
            "scheduler": row.name, "kept_in": row.kept, "stories": stories, "herd_to_ours": self.ratio(row),
            "problems": row.problems,
        })
    }
}

fn story(told: &Told) -> Value {
    match told {
        Told::Herd { schedules, first, middle, last, not_run, doubled } => json!({
            "story": "herd", "schedules": schedules, "first_ms": first, "p50_ms": middle, "last_ms": last,
            "not_run": not_run, "doubled": doubled,
        }),
        Told::Steady { schedules, seconds, missing, p99 } => json!({
            "story": "steady", "schedules": schedules, "seconds": seconds, "missing": missing, "p99_ms": p99,
        }),
        Told::Crash { schedules, started, not_run, doubled, last, watched_s } => json!({
            "story": "crash", "schedules": schedules, "started_at_kill": started, "not_run": not_run,
            "doubled": doubled, "last_ms_after_restart": last, "watched_s": watched_s,
        }),
        Told::Outage { schedules, ran, gap_s } => {
            json!({ "story": "outage", "schedules": schedules, "ran": ran, "gap_s": gap_s })
        }
    }
}
