//! Goal: every overlap policy with every catch-up policy, kind of window and kind of night leaves a whole ledger.
//! Method: 240 simulated nights, each against its recorded ledger, the promises, and proof that it has in it what its
//! coordinates say. `cargo test -p punctual-plan --test matrix -- --nocapture` shows the matrix.

mod cell;
mod evidence;
#[path = "../proof/golden.rs"]
mod golden;
#[path = "../proof/promises.rs"]
mod promises;
#[path = "../proof/text.rs"]
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use cell::{Cell, Night, Window};
use punctual_plan::{CatchUp, Overlap, RunStatus, Simulated, simulate};

/// Cells without a single run, each with the reason why that is right.
const EMPTY: &[(&str, &str)] = &[];

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for overlap in Overlap::ALL {
        for catch_up in CatchUp::ALL {
            for window in Window::ALL {
                for night in Night::ALL {
                    cells.push(Cell { overlap: *overlap, catch_up: *catch_up, window, night });
                }
            }
        }
    }
    cells
}

fn counts(simulated: &Simulated) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for run in &simulated.accounts[0].runs {
        *counts.entry(run.state.status().name()).or_insert(0) += 1;
    }
    counts
}

fn is_shown(status: &&RunStatus) -> bool {
    matches!(
        status,
        RunStatus::Success
            | RunStatus::Cancelled
            | RunStatus::Failed
            | RunStatus::Skipped
            | RunStatus::Missed
    )
}

#[test]
fn every_cell_of_the_matrix_has_its_ledger() {
    let shown: Vec<&RunStatus> = RunStatus::ALL.iter().filter(is_shown).collect();
    let header: String = shown.iter().map(|status| format!("{:>10}", status.name())).collect();
    println!("{:<44}{header}", "overlap  catch-up  window        night");
    let mut said: BTreeMap<&str, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for cell in cells() {
        let scenario = cell.scenario();
        let simulated = simulate(&scenario);
        let counts = counts(&simulated);
        let count = |status: &&RunStatus| counts.get(status.name()).copied().unwrap_or(0);
        let numbers: String = shown.iter().map(|status| format!("{:>10}", count(status))).collect();
        println!("{:<44}{numbers}", cell.to_string());
        let ledger = cell.clock().ledger(&simulated);
        let is_excused = EMPTY.iter().any(|(name, _)| *name == cell.name());
        if counts.is_empty() && !is_excused {
            wrong.push(format!("{cell}: nothing happens, and no reason is given"));
        }
        let broken = promises::check(&scenario, &simulated).broken;
        let lacking = evidence::lacking(&cell, &simulated);
        wrong.extend(broken.into_iter().chain(lacking).map(|what| format!("{cell}: {what}")));
        let text = said.entry(cell.overlap.name()).or_default();
        *text += &format!("# {}\n{}\n\n", cell.name(), ledger.join("\n"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (overlap, text) in said {
        golden::compare(&folder.join(format!("matrix-{overlap}.txt")), &text);
    }
}

#[test]
fn the_matrix_has_every_cell_once() {
    let mut names: Vec<String> = cells().iter().map(Cell::name).collect();
    assert_eq!(names.len(), 240);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 240);
    let is_named = |(name, reason): &(&str, &str)| !reason.is_empty() && names.iter().any(|one| one == name);
    assert!(EMPTY.iter().all(is_named), "a reason for a cell that is not there");
}
