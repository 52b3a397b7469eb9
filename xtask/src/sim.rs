//! `cargo xtask sim`: whole clusters in virtual time under seeds; one is told again by its number.

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;
use crate::repository;

/// What the check tells: every tenth story on SQLite.
const BOUNDED: [&str; 4] = ["--seeds", "0..300", "--store", "mixed"];

/// Builds the simulator and hands the arguments to it.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let program = built()?;
    Line::new([program.as_str()].into_iter().chain(arguments.iter().map(String::as_str))).run()
}

/// The part of it that belongs to the check.
pub(crate) fn bounded() -> Result<String, Failure> {
    let program = built()?;
    shown(&Line::new([program.as_str()].into_iter().chain(BOUNDED)))?;
    Ok("300 stories, a tenth of them on SQLite".to_owned())
}

/// For release: it shares what it is made of with the program that the end-to-end tests drive.
fn built() -> Result<String, Failure> {
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-sim"]))?;
    let target = repository::target_directory(&repository::root()?)?;
    Ok(target.join("release/punctual-sim").display().to_string())
}
