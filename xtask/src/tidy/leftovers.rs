//! Rule `leftovers`: nothing half-made, and no crash without a reason, in what users run.

use crate::facts::{Fact, Kind};
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Macros that mean "later".
const MACROS: &[&str] = &["todo", "unimplemented", "dbg"];

/// Looks outside tests; examples are read by users and count as product.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    file.facts.iter().filter(|fact| !fact.is_test).filter_map(|fact| leftover(file, fact)).collect()
}

fn leftover(file: &RustFile, fact: &Fact) -> Option<Finding> {
    let (what, hint) = match &fact.kind {
        Kind::Macro(name) if MACROS.contains(&name.as_str()) => (
            format!("`{name}!` outside a test"),
            "finish it, or return an error that says what is not there yet",
        ),
        Kind::Method(name) if name == "unwrap" => (
            "`.unwrap()` outside a test".to_owned(),
            "return the error, or say why it holds: `.expect(\"…\")`",
        ),
        Kind::Path(path) if path.ends_with("Option::unwrap") || path.ends_with("Result::unwrap") => {
            (format!("`{path}` outside a test"), "return the error, or say why it holds: `.expect(\"…\")`")
        }
        _ => return None,
    };
    Some(Finding::new(&file.path, fact.line, what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_made_code_is_refused_outside_tests() {
        let check_source =
            |source: &str, expected: &str| crate::tidy::example::rust(check, "a.rs", source, expected);
        check_source("fn f() { todo!() }", "a.rs:1: `todo!` outside a test");
        check_source("fn f() { std::unimplemented!() }", "a.rs:1: `unimplemented!` outside a test");
        check_source("fn f() { vec![\ndbg!(1)] }", "a.rs:2: `dbg!` outside a test");
        check_source("fn f() { g()\n.unwrap() }", "a.rs:2: `.unwrap()` outside a test");
        check_source(
            "fn f() { assert!(a != b, \"{}\", g().unwrap()) }",
            "a.rs:1: `.unwrap()` outside a test",
        );
        check_source("fn f() { g().map(Option::unwrap) }", "a.rs:1: `Option::unwrap` outside a test");
        check_source("#[test]\nfn f() { g().unwrap(); dbg!(1); }", "");
        check_source("/// `x.unwrap()` and todo!()\nfn f() { g(\"todo!()\").unwrap_or(1); } // dbg!(2)", "");
    }
}
