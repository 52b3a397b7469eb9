//! `cargo xtask faults serve`: the kill test of the program at the length that its promise names.

use crate::check::shown;
use crate::failure::Failure;
use crate::line::Line;
use crate::release;

const USAGE: &str = "cargo xtask faults serve [KILLS [SCHEDULES]]";

/// How often the server is killed.
const KILLS: &str = "50";

/// How many per-second schedules run meanwhile.
const SCHEDULES: &str = "200";

/// Kills the release binary again and again and has the ledger read by the independent reader.
pub(super) fn command(arguments: &[String]) -> Result<(), Failure> {
    let [kills, schedules] = match arguments {
        [] => [KILLS, SCHEDULES],
        [kills] => [kills.as_str(), SCHEDULES],
        [kills, schedules] => [kills.as_str(), schedules.as_str()],
        _ => return Err(Failure::new("too many arguments", USAGE)),
    };
    if [kills, schedules].iter().any(|text| text.parse::<u32>().is_err()) {
        return Err(Failure::new("not a number", USAGE));
    }
    let binary = release::program()?.display().to_string();
    let test = [
        "cargo",
        "test",
        "--package",
        "punctual",
        "--test",
        "e2e_program",
        "kills_at_random",
        "--",
        "--nocapture",
    ];
    let line = Line::new(test)
        .with("PUNCTUAL_TEST_BINARY", &binary)
        .with("PUNCTUAL_KILLS", kills)
        .with("PUNCTUAL_SCHEDULES", schedules);
    shown(&line)
}
