//! Rule `sleep`: a test that sleeps is slow on every machine and wrong on a slower one.

use crate::facts::Kind;
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Functions that let time pass, whatever path leads to them.
const SLEEPS: &[&str] = &["sleep", "sleep_ms", "sleep_until", "park_timeout"];

/// Looks at test code only. A program text in a string may sleep: it is what is tested, not the test.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fact in file.facts.iter().filter(|fact| fact.is_test) {
        if let Kind::Path(path) = &fact.kind
            && path.rsplit("::").next().is_some_and(|name| SLEEPS.contains(&name))
        {
            let what = format!("`{path}` in a test");
            let hint = "advance the test's clock, or wait for what shall happen: a line of output, a channel, an exit";
            findings.push(Finding::new(&file.path, fact.line, what, hint));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_sleep() {
        let check_file = |path: &str, source: &str, expected: &str| {
            crate::tidy::example::rust(check, path, source, expected);
        };
        check_file("a/src/wake.rs", "fn f() { std::thread::sleep(d) }", "");
        check_file(
            "a/tests/a.rs",
            "fn f() { std::thread::sleep(d) }",
            "a/tests/a.rs:1: `std::thread::sleep` in a test",
        );
        check_file(
            "a.rs",
            "#[cfg(test)] mod tests {\nuse tokio::time::sleep; }",
            "a.rs:2: `tokio::time::sleep` in a test",
        );
        check_file("a.rs", "#[test] fn f() { vec![thread::sleep(d)]; }", "a.rs:1: `thread::sleep` in a test");
        check_file("a/tests/a.rs", "fn f() { run(\"sleep(5)\"); asleep(); }", "");
    }
}
