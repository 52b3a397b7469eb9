//! `cargo xtask sim`: whole clusters in virtual time under seeds; one is told again by its number. `--eyes` takes the
//! rules of the ledger out, one after the other: each must be missed. `--soak` tells long stories, thousands of them, and
//! keeps a log with which it goes on when it is started again.

use std::path::PathBuf;

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;
use crate::repository;

/// What the check tells: every tenth story on SQLite.
const BOUNDED: [&str; 4] = ["--seeds", "0..300", "--store", "mixed"];

/// How the simulator is built: for release, together with the program, so that what both are made of is built once. Its rules
/// can be taken out, in the test that does so.
const BUILT: [&str; 7] = [
    "--release",
    "--package",
    "punctual-sim",
    "--package",
    "punctual",
    "--features",
    "punctual-sim/rule-switches",
];

/// How it is built for a soak: as what is shipped, with no rule that could be taken out.
const SOAKING: [&str; 4] = ["--profile", "dist", "--package", "punctual-sim"];

/// What a soak tells if nothing else is asked for: somewhat more than 200 cluster-years.
const SOAKED: [&str; 4] = ["--days", "10", "--seeds", "0..7400"];

/// Builds the simulator and hands the arguments to it.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|argument| argument == "--eyes") {
        return eyes();
    }
    if arguments.iter().any(|argument| argument == "--soak") {
        return soak(arguments);
    }
    let program = built()?;
    Line::new([program.as_str()].into_iter().chain(arguments.iter().map(String::as_str))).run()
}

/// The part of it that belongs to the check.
pub(crate) fn bounded() -> Result<String, Failure> {
    let program = built()?;
    shown(&Line::new([program.as_str()].into_iter().chain(BOUNDED)))?;
    eyes()?;
    Ok("300 stories, a tenth of them on SQLite; each rule taken out is missed".to_owned())
}

/// Takes each rule out: of memory first, then of what keeps the others.
fn eyes() -> Result<(), Failure> {
    shown(&Line::new(["cargo", "test"].into_iter().chain(BUILT).chain(["--test", "eyes"])))?;
    let others = crate::eyes::ask()?;
    println!("   {others} rules are missed by the tests of a file, a process or a database");
    Ok(())
}

/// Tells what the log does not have yet; what is asked for goes before what is usual.
fn soak(asked: &[String]) -> Result<(), Failure> {
    shown(&Line::new(["cargo", "build"].into_iter().chain(SOAKING)))?;
    let root = repository::root()?;
    let target = repository::target_directory(&root)?;
    let (program, log) = (target.join("dist/punctual-sim"), target.join("soak.jsonl"));
    let root = root.display().to_string();
    let commit = Line::new(["git", "-C", &root, "describe", "--always", "--dirty"]).output()?;
    let mut words = vec![program.display().to_string()];
    words.extend(SOAKED.map(str::to_owned));
    words.extend(["--progress", "60", "--commit", commit.trim()].map(str::to_owned));
    words.extend(["--log".to_owned(), log.display().to_string()]);
    words.extend(asked.iter().filter(|word| *word != "--soak").cloned());
    Line::new(words).run()
}

/// The program that is built with the simulator.
pub(crate) fn program() -> Result<PathBuf, Failure> {
    shown(&build_line())?;
    Ok(repository::target_directory(&repository::root()?)?.join("release/punctual"))
}

/// The line that builds the simulator and the program.
pub(crate) fn build_line() -> Line {
    Line::new(["cargo", "build"].into_iter().chain(BUILT))
}

fn built() -> Result<String, Failure> {
    shown(&build_line())?;
    let target = repository::target_directory(&repository::root()?)?;
    Ok(target.join("release/punctual-sim").display().to_string())
}
