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
