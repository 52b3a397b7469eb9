//! What a schedule may be called, whichever door its name comes through.

/// The longest name of a schedule, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// What to do about a name that cannot be used.
pub const HINT: &str = "choose a short name, such as `nightly-backup`";

/// What is wrong with a name that nobody could type or find again.
pub fn problem(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        Some("the name is empty".to_owned())
    } else if name.len() > NAME_BYTES_MAX {
        Some(format!("the name is longer than {NAME_BYTES_MAX} bytes"))
    } else if name.chars().any(char::is_control) {
        Some("the name holds a control character".to_owned())
    } else {
        None
    }
}

/// Orgs whose ids begin so are the program's own: the installation keeps its pause and its events under one.
const OWN_ORGS: &str = "punctual:";

/// What to do about an org that cannot be used.
pub const ORG_HINT: &str = "choose a short name, such as `acme`";

/// What is wrong with the id of an org that somebody wants to act for.
pub fn org_problem(org_id: &str) -> Option<String> {
    match problem(org_id) {
        None if org_id.starts_with(OWN_ORGS) => Some(format!("`{org_id}` is kept for the installation")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_acts_for_the_installation() {
        assert!(punctual_store::INSTALLATION.starts_with(OWN_ORGS));
        for org_id in [punctual_store::INSTALLATION, "punctual:", "punctual:other"] {
            let problem = org_problem(org_id).unwrap_or_default();
            assert_eq!(problem, format!("`{org_id}` is kept for the installation"));
        }
        assert_eq!(org_problem("punctual"), None);
    }
}
