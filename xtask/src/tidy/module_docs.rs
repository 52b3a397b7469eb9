//! Rule `module-docs`: each file says on its first line what lives in it.

use crate::finding::Finding;
use crate::rust_file::RustFile;

/// The first line is a `//!` with words in it.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let first = file.text.lines().next().unwrap_or_default();
    let says_something = first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty());
    if says_something {
        return Vec::new();
    }
    let hint =
        "begin with `//!` and one sentence: what lives here; then where to start, and what it never does";
    vec![Finding::new(&file.path, 1, "the file does not begin with `//!`".to_owned(), hint)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_begins_with_its_purpose() {
        let check_source =
            |source: &str, expected: &str| crate::tidy::example::rust(check, "a.rs", source, expected);
        check_source("//! Names.\nfn f() {}", "");
        check_source("fn f() {}", "a.rs:1: the file does not begin with `//!`");
        check_source("//!\n//! Names.", "a.rs:1: the file does not begin with `//!`");
        check_source("", "a.rs:1: the file does not begin with `//!`");
    }
}
