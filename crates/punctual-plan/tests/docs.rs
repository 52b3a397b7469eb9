//! Goal: the pages about states and reasons are complete.
//! Method: every state and every reason is looked up in its page.

use punctual_plan::{Reason, RunStatus, Status};

const STATES: &str = include_str!("../../../docs/states.md");
const REASONS: &str = include_str!("../../../docs/reasons.md");

#[test]
fn every_reason_is_listed_with_its_sentence_and_no_other() {
    for reason in Reason::LIST {
        let line = REASONS.lines().find(|line| line.starts_with(&format!("| `{}` |", reason.code)));
        let line = line.unwrap_or_else(|| panic!("docs/reasons.md lacks `{}`", reason.code));
        assert!(
            line.ends_with(&format!("| {} |", reason.sentence)),
            "docs/reasons.md says otherwise: {line}"
        );
    }
    let listed = REASONS.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(listed, Reason::LIST.len());
}

#[test]
fn every_state_of_a_run_and_of_a_schedule_is_explained_and_drawn() {
    let at = "2026-01-01T00:00:00Z".parse().expect("an instant");
    let statuses = [
        Status::Active,
        Status::PausedManual { by: String::new(), note: String::new() },
        Status::Maintenance { by: String::new(), note: String::new() },
        Status::PausedInvalid { error: String::new() },
        Status::AutoDisabled { failures: 5 },
        Status::Exhausted { at },
    ];
    let names = RunStatus::ALL.iter().map(|status| status.name());
    for name in names.chain(statuses.iter().map(Status::name)) {
        assert!(STATES.contains(&format!("| `{name}` |")), "docs/states.md does not explain `{name}`");
        assert!(STATES.matches(name).count() > 1, "docs/states.md does not draw `{name}`");
    }
}
