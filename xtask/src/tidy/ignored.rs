//! Rule `ignored`: a test that does not run protects nothing and looks as if it did.

use crate::facts::Kind;
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Refuses `#[ignore]`, with or without a reason.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let ignored = file.facts.iter().filter(|fact| fact.kind == Kind::Attribute("ignore".to_owned()));
    let hint =
        "mend the test, delete it, or assert the wrong behaviour with a comment; slow ones are named `e2e_…`";
    ignored.map(|fact| Finding::new(&file.path, fact.line, "a test is ignored".to_owned(), hint)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_tests_are_refused() {
        let check_source =
            |source: &str, expected: &str| crate::tidy::example::rust(check, "a.rs", source, expected);
        check_source("#[test]\nfn f() {}", "");
        check_source("#[test]\n#[ignore]\nfn f() {}", "a.rs:2: a test is ignored");
        check_source("#[test]\n#[ignore = \"slow\"]\nfn f() {}", "a.rs:2: a test is ignored");
        check_source("#[cfg_attr(windows, ignore)]\nfn f() {}", "a.rs:1: a test is ignored");
        check_source("proptest! {\n#[test]\n#[ignore]\nfn f() {} }", "a.rs:3: a test is ignored");
    }
}
