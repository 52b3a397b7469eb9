//! The rule that this process goes without, to see whether a test notices.
//!
//! The rules have their names in `punctual-plan`, which asks for all of them but the one that is kept here. Only test builds
//! have this file: there the environment may name a rule, whatever thread or library keeps it.

use std::sync::LazyLock;

/// What names the rule.
const VARIABLE: &str = "PUNCTUAL_RULE_OUT";

#[allow(
    clippy::disallowed_methods,
    reason = "a test says which rule is out, and nothing that is shipped asks"
)]
static OUT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());

/// The rule that the environment takes out of this process, if it names one.
pub fn out() -> Option<&'static str> {
    OUT.as_deref()
}

/// Whether instants round up to whole seconds.
#[inline]
pub(crate) fn rounds_up() -> bool {
    out() != Some("round_up")
}
