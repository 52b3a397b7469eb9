//! A Rust source file, parsed once into the plain list of facts that the rules read.
//!
//! Comments and doc comments are no facts, and the text of a string is a [`Kind::Text`] and nothing else, so a rule
//! cannot mistake prose for code.

use syn::visit::Visit;

use crate::facts::{self, Fact, Kind};
use crate::finding::Finding;

/// One parsed file.
pub(crate) struct RustFile {
    /// Path from the root, with `/`.
    pub(crate) path: String,
    /// The source.
    pub(crate) text: String,
    /// What stands in it, in reading order.
    pub(crate) facts: Vec<Fact>,
}

impl RustFile {
    /// Parses `text`; what is not Rust becomes a finding.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Self, Finding> {
        let tree = syn::parse_file(text).map_err(|error| {
            let line = error.span().start().line;
            Finding::new(path, line, format!("cannot be parsed: {error}"), "does `cargo check` accept it?")
        })?;
        let mut reader = facts::Reader::default();
        reader.visit_file(&tree);
        let mut file = Self { path: path.to_owned(), text: text.to_owned(), facts: reader.facts };
        if file.is_under(&["tests", "benches"]) {
            file.become_test();
        }
        Ok(file)
    }

    /// Counts all of the file as test code.
    pub(crate) fn become_test(&mut self) {
        for fact in &mut self.facts {
            fact.is_test = true;
        }
    }

    /// Whether one of these names is a folder on the file's path.
    pub(crate) fn is_under(&self, folders: &[&str]) -> bool {
        let mut parts: Vec<&str> = self.path.split('/').collect();
        parts.pop();
        parts.iter().any(|part| folders.contains(part))
    }

    /// Paths, without `.rs`, of the modules that this file declares under `#[cfg(test)]` and keeps in other files.
    pub(crate) fn test_modules(&self) -> Vec<String> {
        let folder = match self.path.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
            _ => self.path.trim_end_matches(".rs").to_owned(),
        };
        let declared = self.facts.iter().filter(|fact| fact.is_test).filter_map(|fact| match &fact.kind {
            Kind::Module { name, is_inline: false } => Some(format!("{folder}/{name}")),
            _ => None,
        });
        declared.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Repository;

    #[test]
    fn test_code_is_told_from_product_code() {
        let check = |path: &str, source: &str, expected: &str| {
            let file = RustFile::parse(path, source).expect("the example is Rust");
            let unwraps = file.facts.iter().filter(|fact| fact.kind == Kind::Method("unwrap".to_owned()));
            let seen: Vec<_> = unwraps.map(|fact| if fact.is_test { "test" } else { "product" }).collect();
            assert_eq!(seen.join(" "), expected, "{path}: {source}");
        };
        check("crates/a/src/lib.rs", "fn f() { g().unwrap(); }", "product");
        check("crates/a/src/lib.rs", "#[cfg(test)] mod tests { fn f() { g().unwrap(); } }", "test");
        check("crates/a/src/lib.rs", "#[cfg(not(test))] mod real { fn f() { g().unwrap(); } }", "product");
        check("crates/a/src/lib.rs", "#[cfg(feature = \"rule-switches\")] fn f() { g().unwrap(); }", "test");
        check("crates/a/src/lib.rs", "#[cfg(feature = \"otel\")] fn f() { g().unwrap(); }", "product");
        check(
            "crates/a/src/lib.rs",
            "#[cfg(all(unix, test))] mod tests { fn f() { g().unwrap(); } }",
            "test",
        );
        check(
            "crates/a/src/lib.rs",
            "#[cfg(any(unix, test))] mod both { fn f() { g().unwrap(); } }",
            "product",
        );
        check("crates/a/src/lib.rs", "#[tokio::test] async fn f() { g().unwrap(); }", "test");
        check(
            "crates/a/src/lib.rs",
            "impl A { #[cfg(test)] fn f() { g().unwrap(); } fn h() { g().unwrap(); } }",
            "test product",
        );
        check("crates/a/src/lib.rs", "fn f() { println!(\"{}\", g().unwrap()); }", "product");
        check("crates/a/tests/all.rs", "fn f() { g().unwrap(); }", "test");
        check("crates/a/src/lib.rs", "/// ```\n/// g().unwrap();\n/// ```\nfn f() { \"g().unwrap()\"; }", "");
    }

    #[test]
    fn a_module_declared_under_cfg_test_is_test_code_in_its_own_file() {
        let mut repository = Repository::default();
        repository.add_text("a/src/lib.rs".to_owned(), "#[cfg(test)]\nmod cases;\nmod real;".to_owned());
        repository.add_text("a/src/cases.rs".to_owned(), "fn f() { g() }".to_owned());
        repository.add_text("a/src/cases/deep.rs".to_owned(), "fn f() { g() }".to_owned());
        repository.add_text("a/src/real.rs".to_owned(), "fn f() { g() }".to_owned());
        repository.mark_test_modules();
        let is_test: Vec<bool> =
            repository.rust.iter().map(|file| file.facts.iter().all(|f| f.is_test)).collect();
        assert_eq!(is_test, [false, true, true, false]);
    }
}
