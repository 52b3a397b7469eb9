//! `cargo xtask check`: everything that CI checks, one named step after the other.
//!
//! [`steps::STEPS`] is the list. A step that cannot run fails and says what to install; none is passed over in
//! silence. The first failure ends the run, because what follows it would only bury it.

mod ahead;
mod steps;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

pub(crate) use self::steps::SUITE;
use self::steps::{STEPS, Step, Work};
use crate::failure::Failure;
use crate::line::Line;

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// The inner loop: `--fast`.
    Fast,
    /// All of it.
    Full,
}

/// The program as the step `tests` has built it, with everything that only tests have.
pub(crate) fn program_of_tests() -> Result<std::path::PathBuf, Failure> {
    steps::program_of_tests()
}

/// How a step ended, for the table at the end.
struct Row {
    name: &'static str,
    took: Duration,
    ended: Ended,
}

/// How a step ended.
enum Ended {
    Well(String),
    Badly,
    NotReached,
    NotAsked,
}

/// Runs the steps that belong to the pace and prints the table, whatever happened.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let pace = match arguments {
        [] => Pace::Full,
        [only] if only == "--fast" => Pace::Fast,
        _ => {
            return Err(Failure::new(
                format!("`{}` is not understood", arguments.join(" ")),
                "cargo xtask check [--fast]",
            ));
        }
    };
    std::env::set_current_dir(crate::repository::root()?)
        .map_err(|error| Failure::new(error.to_string(), "is the repository readable?"))?;
    let (rows, result) = run(STEPS, pace);
    ahead::end();
    println!("\n{}", table(&rows));
    result
}

fn run(steps: &[Step], pace: Pace) -> (Vec<Row>, Result<(), Failure>) {
    let mut result = Ok(());
    let mut rows = Vec::new();
    for step in steps {
        let is_asked = pace == Pace::Full || step.pace == Pace::Fast;
        let begun = Instant::now();
        let ended = if !is_asked {
            Ended::NotAsked
        } else if result.is_err() {
            Ended::NotReached
        } else {
            work(step, pace).map_or_else(
                |failure| {
                    result =
                        Err(Failure::new(format!("step `{}`: {}", step.name, failure.what), failure.hint));
                    Ended::Badly
                },
                Ended::Well,
            )
        };
        rows.push(Row { name: step.name, took: begun.elapsed(), ended });
    }
    (rows, result)
}

/// Does what the step says, with its name before and its time after.
fn work(step: &Step, pace: Pace) -> Result<String, Failure> {
    println!("\n== {}: {}", step.name, step.says);
    let begun = Instant::now();
    let result = match step.work {
        Work::Lines(lines) => lines().iter().try_for_each(shown).map(|()| String::new()),
        Work::Call(call) => call(pace),
    };
    let ended = if result.is_ok() { "ok" } else { "FAILED" };
    println!("== {}: {ended} after {:.1} s", step.name, begun.elapsed().as_secs_f64());
    result
}

/// Prints a line and runs it.
pub(crate) fn shown(line: &Line) -> Result<(), Failure> {
    println!("   {line}");
    line.run()
}

fn described(row: &Row) -> String {
    let seconds = row.took.as_secs_f64();
    let (result, note) = match &row.ended {
        Ended::Well(note) => (format!("ok {seconds:>8.1} s"), note.as_str()),
        Ended::Badly => (format!("FAILED {seconds:>4.1} s"), ""),
        Ended::NotReached => ("not reached".to_owned(), ""),
        Ended::NotAsked => ("not asked".to_owned(), "left out by --fast"),
    };
    format!("{:<14} {result:<14} {note}", row.name).trim_end().to_owned()
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{}", described(row));
    }
    let total: f64 = rows.iter().map(|row| row.took.as_secs_f64()).sum();
    let _ = write!(text, "{:<14}    {total:>8.1} s", "all");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(_pace: Pace) -> Result<String, Failure> {
        Ok("with a note".to_owned())
    }

    fn fails(_pace: Pace) -> Result<String, Failure> {
        Err(Failure::new("it broke", "run again: it"))
    }

    fn check(work: [fn(Pace) -> Result<String, Failure>; 3], pace: Pace, expected: &str) {
        let steps = [
            Step { name: "one", says: "", pace: Pace::Fast, work: Work::Call(work[0]) },
            Step { name: "two", says: "", pace: Pace::Full, work: Work::Call(work[1]) },
            Step { name: "three", says: "", pace: Pace::Fast, work: Work::Call(work[2]) },
        ];
        let (rows, result) = run(&steps, pace);
        let ended = rows.iter().map(|row| match &row.ended {
            Ended::Well(_) => "ok",
            Ended::Badly => "failed",
            Ended::NotReached => "not reached",
            Ended::NotAsked => "not asked",
        });
        let result = result.map_or_else(|failure| failure.what, |()| "well".to_owned());
        assert_eq!(format!("{}: {result}", ended.collect::<Vec<_>>().join(", ")), expected);
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        check([passes, passes, passes], Pace::Full, "ok, ok, ok: well");
        check([passes, fails, passes], Pace::Full, "ok, failed, not reached: step `two`: it broke");
    }

    #[test]
    fn fast_leaves_out_what_is_slow_and_says_so() {
        check([passes, fails, passes], Pace::Fast, "ok, not asked, ok: well");
    }

    #[test]
    fn the_table_shows_every_step() {
        let row = |name, ended| Row { name, took: Duration::from_millis(1_500), ended };
        let rows = [
            row("fmt", Ended::Well("note".to_owned())),
            row("clippy", Ended::Badly),
            row("docs", Ended::NotReached),
        ];
        let expected = "fmt            ok      1.5 s  note\nclippy         FAILED  1.5 s\ndocs           not reached\nall                    4.5 s";
        assert_eq!(table(&rows), expected);
    }
}
