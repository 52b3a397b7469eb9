//! `cargo xtask sim`: whole clusters in virtual time under seeds; one is told again by its number. `--eyes` takes the
//! rules of the ledger out, one after the other: each must be missed.

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;
use crate::repository;

/// What the check tells: every tenth story on SQLite.
const BOUNDED: [&str; 4] = ["--seeds", "0..300", "--store", "mixed"];

/// How the simulator is built: as the program is, with which it shares the libraries of others. Its rules can be taken out;
/// it and the test of that share everything that they are made of.
const BUILT: [&str; 5] =
    ["--release", "--package", "punctual-sim", "--features", "punctual-sim/rule-switches"];

/// Builds the simulator and hands the arguments to it.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    if arguments.iter().any(|argument| argument == "--eyes") {
        return eyes();
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

/// Takes each rule out.
fn eyes() -> Result<(), Failure> {
    shown(&Line::new(["cargo", "test"].into_iter().chain(BUILT).chain(["--test", "eyes"])))
}

fn built() -> Result<String, Failure> {
    shown(&Line::new(["cargo", "build"].into_iter().chain(BUILT)))?;
    let target = repository::target_directory(&repository::root()?)?;
    Ok(target.join("release/punctual-sim").display().to_string())
}
