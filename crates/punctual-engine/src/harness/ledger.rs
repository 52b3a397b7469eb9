//! The ledger as lines of text, as people read it.

use jiff::Timestamp;
use punctual_plan::Run;

/// A run as a line: its instant, its state and the code of its reason.
pub fn line(run: &Run) -> String {
    let mut said = format!("{} {}", clock(run.scheduled_for), run.state.status());
    if let Some(reason) = run.state.reason() {
        said += &format!(" {}", reason.code());
    }
    said
}

pub(super) fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M:%S").to_string()
}
