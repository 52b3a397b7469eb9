//! Rule `purity`: the pure crates get time, zones and state as arguments and give decisions back, nothing else.
//!
//! The dependency allowance keeps most of it out already; this rule names what the standard library offers, and
//! what Cargo's feature unification could bring back in a build of the whole workspace.

use super::allowance::PURE;
use crate::facts::{Fact, Kind};
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Paths that are refused, wherever they stand in a longer path, and what they would reach.
const PATHS: &[(&str, &str)] = &[
    ("std::time::SystemTime", "the wall clock"),
    ("std::time::Instant", "a clock"),
    ("std::time::*", "a clock"),
    ("SystemTime::now", "the wall clock"),
    ("Instant::now", "a clock"),
    ("Timestamp::now", "the wall clock"),
    ("Zoned::now", "the wall clock"),
    ("TimeZone::system", "the host's zone"),
    ("TimeZone::try_system", "the host's zone"),
    ("std::fs", "files"),
    ("std::io", "files and terminals"),
    ("std::env", "the environment"),
    ("std::net", "the network"),
    ("std::os", "the operating system"),
    ("std::process", "processes"),
    ("std::thread", "threads"),
    ("std::hash::RandomState", "chance"),
    ("RandomState::new", "chance"),
];

/// Crates that are refused by name, should they ever become reachable.
const CRATES: &[(&str, &str)] = &[
    ("rand", "chance"),
    ("getrandom", "chance"),
    ("fastrand", "chance"),
    ("tokio", "a clock, threads and the network"),
    ("chrono", "the wall clock"),
];

/// Macros that print.
const MACROS: &[&str] = &["print", "println", "eprint", "eprintln"];

const HINT: &str = "take it as an argument and let punctual-engine ask the world";

/// Looks at the pure crates outside their tests, benchmarks and examples.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let is_pure = PURE.iter().any(|pure| file.path.starts_with(pure.folder));
    if !is_pure || file.is_under(&["examples"]) {
        return Vec::new();
    }
    let product = file.facts.iter().filter(|fact| !fact.is_test);
    product.filter_map(|fact| Some(Finding::new(&file.path, fact.line, impurity(fact)?, HINT))).collect()
}

fn impurity(fact: &Fact) -> Option<String> {
    match &fact.kind {
        Kind::Macro(name) if MACROS.contains(&name.as_str()) => {
            Some(format!("`{name}!` in a pure crate prints"))
        }
        Kind::Path(path) => reached(path).map(|what| format!("`{path}` in a pure crate reaches {what}")),
        _ => None,
    }
}

/// What `path` would reach, if it is refused.
fn reached(path: &str) -> Option<&'static str> {
    let within = format!("::{path}::");
    let by_path = PATHS.iter().find(|(refused, _)| within.contains(&format!("::{refused}::")));
    // A lone name is a variable; a crate is followed by what is taken from it.
    let by_crate = CRATES.iter().find(|(refused, _)| path.starts_with(&format!("{refused}::")));
    by_path.or(by_crate).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_source(source: &str, expected: &str) {
        let expected = if expected.is_empty() { String::new() } else { format!("{PATH}:1: {expected}") };
        crate::tidy::example::rust(check, PATH, source, &expected);
    }

    const PATH: &str = "crates/punctual-plan/src/plan.rs";

    #[test]
    fn a_pure_crate_never_touches_the_world() {
        check_source(
            "use std::time::SystemTime;",
            "`std::time::SystemTime` in a pure crate reaches the wall clock",
        );
        check_source("use std::{fmt, fs};", "`std::fs` in a pure crate reaches files");
        check_source("use std::time::*;", "`std::time::*` in a pure crate reaches a clock");
        check_source(
            "fn f() { std::env::var(\"TZ\"); }",
            "`std::env::var` in a pure crate reaches the environment",
        );
        check_source(
            "fn f() { jiff::Timestamp::now(); }",
            "`jiff::Timestamp::now` in a pure crate reaches the wall clock",
        );
        check_source(
            "fn f() { g(TimeZone::system()) }",
            "`TimeZone::system` in a pure crate reaches the host's zone",
        );
        check_source("fn f() { vec![Zoned::now()]; }", "`Zoned::now` in a pure crate reaches the wall clock");
        check_source("fn f() { rand::random(); }", "`rand::random` in a pure crate reaches chance");
        check_source("fn f() { println!(); }", "`println!` in a pure crate prints");
    }

    #[test]
    fn what_is_pure_is_let_be() {
        check_source("use std::time::Duration; use std::fmt; use jiff::Timestamp;", "");
        check_source("/// Never calls `Timestamp::now()`.\nfn f(rand: u8) { g(\"std::fs\", rand) }", "");
        check_source("#[cfg(test)] mod tests { use std::fs; }", "");
        let expected = "";
        crate::tidy::example::rust(check, "crates/punctual-engine/src/wake.rs", "use std::fs;", expected);
        crate::tidy::example::rust(check, "crates/punctual-time/tests/corpus.rs", "use std::fs;", expected);
        crate::tidy::example::rust(check, "crates/punctual-time/examples/next.rs", "use std::fs;", expected);
    }
}
