//! Rule `signature`: a call can be read without looking up what its fifth argument or its `true` means.

use crate::facts::{Function, Kind};
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Most parameters of a function, `self` included.
const PARAMETERS_MAX: usize = 4;

/// Looks at every signature that is ours to choose; inside `impl Trait for Type` it is the trait's.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for fact in &file.facts {
        if let Kind::Function(function) = &fact.kind
            && !function.is_dictated
        {
            findings.extend(
                complaints(function).map(|(what, hint)| Finding::new(&file.path, fact.line, what, hint)),
            );
        }
    }
    findings
}

fn complaints(function: &Function) -> impl Iterator<Item = (String, &'static str)> {
    let name = &function.name;
    let count = function.parameters;
    let many = (count > PARAMETERS_MAX).then(|| {
        let what =
            format!("function `{name}` takes {count} parameters, at most {PARAMETERS_MAX} are allowed");
        (what, "make a struct of those that belong together")
    });
    let flags = function.flags.iter().map(move |flag| {
        let what = format!("parameter `{flag}` of function `{name}` is a `bool`");
        (what, "make an enum whose variants say what they mean, or two functions")
    });
    many.into_iter().chain(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_source(source: &str, expected: &str) {
        crate::tidy::example::rust(check, "a.rs", source, expected);
    }

    #[test]
    fn at_most_four_parameters() {
        check_source("fn f(a: u8, b: u8, c: u8, d: u8) {}", "");
        check_source(
            "fn f(a: u8, b: u8, c: u8, d: u8, e: u8) {}",
            "a.rs:1: function `f` takes 5 parameters, at most 4 are allowed",
        );
        check_source(
            "impl A { pub fn f(&self, a: u8, b: u8, c: u8, d: u8) {} }",
            "a.rs:1: function `f` takes 5 parameters, at most 4 are allowed",
        );
    }

    #[test]
    fn no_parameter_is_a_bool() {
        check_source("fn f(a: Option<bool>) -> bool { true }", "");
        check_source("fn f(is_late: bool) {}", "a.rs:1: parameter `is_late` of function `f` is a `bool`");
        check_source(
            "trait T { fn f(&self, on: bool); }",
            "a.rs:1: parameter `on` of function `f` is a `bool`",
        );
    }

    #[test]
    fn a_trait_dictates_the_signatures_of_its_implementations() {
        check_source("impl Visit for A { fn f(&self, on: bool) {} }", "");
        check_source(
            "impl Visit for A { fn f(&self) { fn inner(on: bool) {} } }",
            "a.rs:1: parameter `on` of function `inner` is a `bool`",
        );
    }
}
