//! `cargo xtask sweep`: every zone, every transition, every expression of the sweep, against its oracle.

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;

/// Runs the whole sweep, of which the tests run a sample.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    if !arguments.is_empty() {
        return Err(Failure::new("the sweep takes no arguments", "cargo xtask sweep"));
    }
    shown(&Line::new(["cargo", "run", "--release", "--package", "punctual-time", "--example", "sweep"]))
}
