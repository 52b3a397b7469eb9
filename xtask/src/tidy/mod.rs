//! The rules that keep the repository in shape; each is one function in a file beside this one.
//!
//! [`RULES`] is the list. A rule never reads the disk: it gets a file or the whole [`Repository`] and returns what it
//! found. To add one, write the function with its `check(…)` examples, add its line here and in `CONTRIBUTING.md`.

mod allowance;
mod direction;
#[cfg(test)]
mod example;
mod ignored;
mod leftovers;
mod links;
mod machine_paths;
mod module_docs;
mod names;
mod purity;
mod signature;
mod size;
mod sleep;
mod sql;

use crate::failure::Failure;
use crate::finding::Finding;
use crate::repository::{self, Repository, TextFile};
use crate::rust_file::RustFile;

/// A rule of the house.
pub(crate) struct Rule {
    /// Its name, as `CONTRIBUTING.md` lists it.
    pub(crate) name: &'static str,
    /// What it demands.
    pub(crate) says: &'static str,
    /// How it is looked after.
    look: Look,
}

/// What a rule is handed.
enum Look {
    Rust(fn(&RustFile) -> Vec<Finding>),
    Text(fn(&TextFile) -> Vec<Finding>),
    Whole(fn(&Repository) -> Vec<Finding>),
}

/// All rules, in the order in which `CONTRIBUTING.md` lists them.
#[rustfmt::skip]
pub(crate) const RULES: &[Rule] = &[
    Rule { name: "file-lines", says: "a Rust file has at most 500 lines", look: Look::Rust(size::file_lines) },
    Rule { name: "function-lines", says: "a function has at most 60 lines", look: Look::Rust(size::function_lines) },
    Rule { name: "signature", says: "a function takes at most 4 parameters and no `bool`", look: Look::Rust(signature::check) },
    Rule { name: "module-docs", says: "a Rust file begins with `//!`", look: Look::Rust(module_docs::check) },
    Rule { name: "names", says: "nothing is called util, common, helper, manager, handler or processor", look: Look::Rust(names::check) },
    Rule { name: "leftovers", says: "no `todo!`, `unimplemented!`, `dbg!` or `.unwrap()` outside tests", look: Look::Rust(leftovers::check) },
    Rule { name: "sleep", says: "a test waits for a signal, it never sleeps", look: Look::Rust(sleep::check) },
    Rule { name: "ignored", says: "no test is ignored", look: Look::Rust(ignored::check) },
    Rule { name: "direction", says: "crates depend only on those before them in the line", look: Look::Whole(direction::check) },
    Rule { name: "allowance", says: "pure crates depend only on what is allowed to them", look: Look::Whole(allowance::check) },
    Rule { name: "purity", says: "pure crates never touch clock, disk, network, threads or chance", look: Look::Rust(purity::check) },
    Rule { name: "sql-in-rust", says: "statements live in `.sql` files", look: Look::Rust(sql::in_rust) },
    Rule { name: "sql-files", says: "a `.sql` file holds one statement, migrations excepted", look: Look::Text(sql::in_files) },
    Rule { name: "machine-paths", says: "no path of somebody's machine", look: Look::Text(machine_paths::check) },
    Rule { name: "links", says: "every relative link in Markdown leads somewhere", look: Look::Whole(links::check) },
];

/// `cargo xtask tidy [--rules]`: prints what is wrong and how much was looked at, or the rules themselves.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    match arguments {
        [] => judge(),
        [only] if only == "--rules" => {
            RULES.iter().for_each(|rule| println!("{}", rule.line()));
            Ok(())
        }
        _ => Err(Failure::new(
            format!("`{}` is not understood", arguments.join(" ")),
            "cargo xtask tidy [--rules]",
        )),
    }
}

/// Looks at the repository around us and prints what it found.
pub(crate) fn judge() -> Result<(), Failure> {
    let repository = Repository::read(&repository::root()?)?;
    let findings = findings(&repository);
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        println!("tidy: {} rules hold in {} files", RULES.len(), repository.texts.len());
        return Ok(());
    }
    Err(Failure::new(format!("tidy: {} places to mend", findings.len()), "each line above says how"))
}

/// Applies every rule to everything.
pub(crate) fn findings(repository: &Repository) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule.findings(repository)).collect();
    findings
        .extend(repository.unreadable.iter().map(|f| Finding::new(&f.path, f.line, f.what.clone(), &f.hint)));
    findings.sort();
    findings
}

impl Rule {
    /// The rule as a row of the table in `CONTRIBUTING.md`.
    fn line(&self) -> String {
        format!("| `{}` | {} |", self.name, self.says)
    }

    fn findings(&self, repository: &Repository) -> Vec<Finding> {
        match self.look {
            Look::Rust(check) => repository.rust.iter().flat_map(check).collect(),
            Look::Text(check) => repository.texts.iter().flat_map(check).collect(),
            Look::Whole(check) => check(repository),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = repository::root().expect("tests run inside the repository");
        let repository = Repository::read(&root).expect("git and cargo are there");
        let findings: Vec<String> = findings(&repository).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    #[test]
    fn contributing_lists_every_rule_with_its_sentence() {
        let root = repository::root().expect("tests run inside the repository");
        let text = std::fs::read_to_string(root.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md is there");
        let lines: Vec<String> = RULES.iter().map(Rule::line).collect();
        let missing: Vec<&String> = lines.iter().filter(|line| !text.contains(*line)).collect();
        assert!(missing.is_empty(), "CONTRIBUTING.md lacks:\n{missing:#?}");
    }

    #[test]
    fn a_file_that_is_not_rust_is_a_finding() {
        let mut repository = Repository::default();
        repository.add_text("a/src/lib.rs".to_owned(), "//! Doc.\nfn (".to_owned());
        example::same(
            &findings(&repository),
            "a/src/lib.rs:2: cannot be parsed: cannot parse string into token stream",
        );
    }
}
