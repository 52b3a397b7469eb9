//! What the parser refuses, in our words.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

/// Why a text is no tree, and what to do about it.
pub(super) struct Unreadable {
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// What to do about a file beyond the budgets.
const FEWER: &str = "write it with fewer levels and aliases; `templates` are made for what schedules share";
const ONE_DOCUMENT: &str =
    "remove the `---`, or put the second document into a file of its own in one folder";
const CHECK: &str = "check the indentation and the quotes on this line and the one above";

/// The commonest mistake of all: YAML takes a star for an alias.
pub(super) const QUOTE_STARS: &str = "text that begins with `*` needs quotes: `cron: \"* * * * *\"`";

/// The parser's own words for too many levels; it has no variant for them.
const RECURSION: &str = "recursion limit";

pub(super) fn explain(error: &Error) -> Unreadable {
    let (message, hint) = match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("a key");
            (format!("`{key}` is written twice"), "remove one of them")
        }
        Error::MultipleDocuments { .. } | Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            ("a second document begins here".to_owned(), ONE_DOCUMENT)
        }
        Error::AliasError { error, .. } => return explain(error),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            ("the file says too much with too little".to_owned(), FEWER)
        }
        other => {
            let said = other.to_string();
            let bare = said.split(" at line ").next().unwrap_or_default().trim();
            match bare.contains(RECURSION) {
                true => ("the values are nested too deeply".to_owned(), FEWER),
                false => (format!("this is not YAML: {bare}"), CHECK),
            }
        }
    };
    Unreadable { message, hint }
}
