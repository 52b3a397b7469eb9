//! Rule `names`: a module is named after what is in it, not after the fact that something is in it.

use crate::facts::Kind;
use crate::finding::Finding;
use crate::rust_file::RustFile;

/// Words that name nothing. They are refused as a module, a file or a folder, and as a part of such a name.
const EMPTY_WORDS: &[&str] = &[
    "util",
    "utils",
    "common",
    "helper",
    "helpers",
    "manager",
    "managers",
    "handler",
    "handlers",
    "processor",
    "processors",
];

const HINT: &str = "name it after the one thing in it, or put its functions where they are used";

/// Looks at the file's path and at the modules written inside the file.
pub(crate) fn check(file: &RustFile) -> Vec<Finding> {
    let parts = file.path.trim_end_matches(".rs").split('/');
    let on_path =
        parts.filter_map(empty_word).map(|word| (1, format!("`{word}` on the file's path names nothing")));
    let inside = file.facts.iter().filter_map(|fact| match &fact.kind {
        // A module in a file of its own is found by that file's path.
        Kind::Module { name, is_inline: true } => {
            empty_word(name).map(|word| (fact.line, format!("`{word}` in module `{name}` names nothing")))
        }
        _ => None,
    });
    on_path.chain(inside).map(|(line, what)| Finding::new(&file.path, line, what, HINT)).collect()
}

fn empty_word(name: &str) -> Option<&str> {
    name.split(['_', '-', '.']).find(|word| EMPTY_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_names_nothing_is_refused() {
        let check_path = |path: &str, source: &str, expected: &str| {
            crate::tidy::example::rust(check, path, source, expected);
        };
        check_path("a/src/ledger.rs", "mod wake { }", "");
        check_path("a/src/utils.rs", "", "a/src/utils.rs:1: `utils` on the file's path names nothing");
        check_path(
            "a/tests/common/mod.rs",
            "",
            "a/tests/common/mod.rs:1: `common` on the file's path names nothing",
        );
        check_path(
            "a/src/tick_handler.rs",
            "",
            "a/src/tick_handler.rs:1: `handler` on the file's path names nothing",
        );
        check_path("a.rs", "\nmod helpers { }", "a.rs:2: `helpers` in module `helpers` names nothing");
        check_path("a/src/commonwealth.rs", "", "");
    }
}
