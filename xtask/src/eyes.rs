//! Eyes: rules that a file, a process or a database keeps are taken out of the tests that show them, one after the other.
//!
//! `docs/reliability.md` names the test of each. It has to pass as it is, and to fail in a process whose environment takes the
//! rule out. What stories and the suite notice in memory is asked by `sim/tests/eyes.rs`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use crate::check::{SUITE, shown};
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::line::Line;
use crate::repository;

/// Takes a rule out of a process of a test build.
const VARIABLE: &str = "PUNCTUAL_RULE_OUT";

/// So many seconds a test has to notice.
const PATIENCE: &str = "60";

/// So many are asked at once: they wait for processes and for the disk more than they reckon.
const ASKED_AT_ONCE: usize = 4;

const PAGE: &str = "docs/reliability.md";

/// A test that notices that a rule is out.
#[derive(Debug, PartialEq, Eq)]
struct Witness {
    rule: String,
    /// The crate.
    package: String,
    /// The name of its file of tests; none for tests within its sources.
    target: Option<String>,
    /// The test, with its modules.
    test: String,
}

/// What cargo says of something that it has built.
#[derive(Deserialize)]
struct Built {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    target: Option<BuiltTarget>,
}

#[derive(Deserialize)]
struct BuiltTarget {
    name: String,
    kind: Vec<String>,
}

/// The programs of tests: by the folder of the crate and the name of the file.
type Programs = HashMap<(String, Option<String>), (PathBuf, PathBuf)>;

/// Asks every test that the page names; gives back how many rules they are for.
pub(crate) fn ask() -> Result<usize, Failure> {
    let root = repository::root()?;
    let page = std::fs::read_to_string(root.join(PAGE))
        .map_err(|error| Failure::new(format!("`{PAGE}`: {error}"), "is the repository whole?"))?;
    let witnesses = named(&page);
    let programs = built(&witnesses)?;
    let server = Server::start()?;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..ASKED_AT_ONCE {
            scope.spawn(|| {
                while let Some(witness) = witnesses.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = notices(witness, &programs, &server) {
                        found.lock().expect("nobody panics with it").push(failure);
                    }
                }
            });
        }
    });
    match found.into_inner().expect("nobody panics with it").pop() {
        Some(failure) => Err(failure),
        None => Ok(witnesses.len()),
    }
}

/// The tests that the page names: `` | `rule` | `crate/tests/file`: `test` | ``, or `crate/src` for one within the sources.
fn named(page: &str) -> Vec<Witness> {
    let witness = |line: &str| {
        let (rule, who) = line.strip_prefix("| `")?.strip_suffix("` |")?.split_once("` | `")?;
        let (place, test) = who.split_once("`: `")?;
        let (package, place) = place.split_once('/')?;
        let target = match place {
            "src" => None,
            _ => Some(place.strip_prefix("tests/")?.to_owned()),
        };
        Some(Witness { rule: rule.to_owned(), package: package.to_owned(), target, test: test.to_owned() })
    };
    let table = page.split_once("<!-- eyes -->").and_then(|(_, rest)| rest.split_once("<!-- /eyes -->"));
    table.map_or_else(Vec::new, |(table, _)| table.lines().filter_map(witness).collect())
}

/// Builds the tests as the check does, and finds them.
fn built(witnesses: &[Witness]) -> Result<Programs, Failure> {
    let targets: BTreeSet<&str> = witnesses.iter().filter_map(|witness| witness.target.as_deref()).collect();
    let chosen = targets.into_iter().flat_map(|target| ["--test", target]);
    let line = ["cargo", "test", "--no-run", "--workspace", "--lib"].into_iter().chain(SUITE).chain(chosen);
    let words: Vec<&str> = line.collect();
    shown(&Line::new(words.clone()))?;
    let said = Line::new(words.into_iter().chain(["--message-format", "json"])).output()?;
    let program = |line: &str| {
        let built: Built = serde_json::from_str(line).ok()?;
        let (target, folder) = (built.target?, built.manifest_path?.parent()?.to_owned());
        let package = folder.file_name()?.to_str()?.to_owned();
        let is = |wanted: &str| target.kind.iter().any(|kind| kind == wanted);
        // The tests within the sources are those of the library.
        let name = if is("lib") { None } else { Some(target.name).filter(|_| is("test")) };
        (is("lib") || is("test")).then_some(((package, name), (built.executable?, folder)))
    };
    Ok(said.lines().filter_map(program).collect())
}

/// Whether a test passes as it is, and fails without the rule.
fn notices(witness: &Witness, programs: &Programs, server: &Server) -> Result<(), Failure> {
    let Witness { rule, package, target, test } = witness;
    let hint = format!("`{PAGE}` names the test of `{rule}`: is it still the right one?");
    let program = programs.get(&(package.clone(), target.clone()));
    let Some((program, folder)) = program else {
        return Err(Failure::new(format!("`{package}` has no such tests: {target:?}"), hint));
    };
    let asked = |line: Line| -> Result<(String, Line), Failure> {
        let line = server.told_to(line)?;
        let output = run(&line, folder)?;
        Ok((output, line))
    };
    let line = Line::new(["timeout", PATIENCE, &program.display().to_string(), "--exact", test]);
    let (said, line_as_it_is) = asked(line.clone())?;
    if !said.contains("test result: ok. 1 passed") {
        return Err(Failure::new(format!("`{line_as_it_is}` does not pass:\n{said}"), hint));
    }
    let (said, line) = asked(line.with(VARIABLE, rule))?;
    if !said.contains("test result: FAILED. 0 passed; 1 failed") {
        return Err(Failure::new(format!("`{rule}` is out, and nobody noticed: `{line}`\n{said}"), hint));
    }
    println!("   without `{rule}` fails `{test}`");
    Ok(())
}

/// What a test prints, however it ends.
fn run(line: &Line, folder: &Path) -> Result<String, Failure> {
    let output = line.command().current_dir(folder).stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("`{line}`: {error}"), "is `timeout` there?"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(format!("{}{}", text(&output.stdout), text(&output.stderr)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_tests_beside_stories() {
        let page = "| `far` | `a/src`: `b` |\n<!-- eyes -->\n| rule taken out | noticed by |\n| --- | --- |\n\
                    | `one` | seed 0: 1: `x` is `y` |\n| `two` | the suite: `plan::it_is` |\n\
                    | `three` | `punctual-store/tests/sqlite`: `file::it_is` |\n\
                    | `four` | `punctual-time/src`: `walk::tests::it_is` |\n<!-- /eyes -->\n";
        let said: Vec<String> = named(page)
            .iter()
            .map(|one| format!("{} {} {:?} {}", one.rule, one.package, one.target, one.test))
            .collect();
        let expected = [
            "three punctual-store Some(\"sqlite\") file::it_is",
            "four punctual-time None walk::tests::it_is",
        ];
        assert_eq!(said, expected);
    }
}
