//! How the rules are tested: a small example goes in, the expected findings come out as text, hints left off.

use crate::finding::Finding;
use crate::repository::TextFile;
use crate::rust_file::RustFile;

/// Applies a rule for Rust files to one source.
pub(crate) fn rust(rule: fn(&RustFile) -> Vec<Finding>, path: &str, source: &str, expected: &str) {
    let file = RustFile::parse(path, source).expect("the example is Rust");
    same(&rule(&file), expected);
}

/// Applies a rule for text files to one text.
pub(crate) fn text(rule: fn(&TextFile) -> Vec<Finding>, path: &str, text: &str, expected: &str) {
    same(&rule(&TextFile { path: path.to_owned(), text: text.to_owned() }), expected);
}

/// Compares findings, one a line, with what the example expects.
pub(crate) fn same(findings: &[Finding], expected: &str) {
    let seen: Vec<String> = findings.iter().map(|f| format!("{}:{}: {}", f.path, f.line, f.what)).collect();
    assert_eq!(seen.join("\n"), expected);
}
