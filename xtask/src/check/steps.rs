//! The steps of `cargo xtask check`, in their order. To add one, add a line to [`STEPS`].
//!
//! A step is a list of command lines where that is enough ([`Work::Lines`]), a function where something has to be
//! found out first ([`Work::Call`]); the function's text is shown behind the step in the table.

use std::path::PathBuf;

use super::{Pace, ahead, shown};
use crate::failure::Failure;
use crate::ground;
use crate::line::Line;
use crate::repository::{self, Crate};

/// A named part of the check.
pub(super) struct Step {
    /// What the table calls it.
    pub(super) name: &'static str,
    /// What it makes sure of.
    pub(super) says: &'static str,
    /// [`Pace::Fast`] if it belongs to the inner loop as well.
    pub(super) pace: Pace,
    /// What it does.
    pub(super) work: Work,
}

/// What a step does.
pub(super) enum Work {
    /// Runs these lines, one after the other.
    Lines(fn() -> Vec<Line>),
    /// Does what no single line can; the text is a note for the table.
    Call(fn(Pace) -> Result<String, Failure>),
}

/// All steps: the cheap and telling ones first.
#[rustfmt::skip]
pub(super) const STEPS: &[Step] = &[
    Step { name: "ground", says: "the programs that the steps need are there, or get installed", pace: Pace::Fast, work: Work::Call(ground::provide) },
    Step { name: "fmt", says: "the code is formatted", pace: Pace::Fast, work: Work::Lines(fmt) },
    Step { name: "clippy", says: "no warning, in any target", pace: Pace::Fast, work: Work::Lines(clippy) },
    Step { name: "tidy", says: "the rules of the house hold", pace: Pace::Fast, work: Work::Call(tidy) },
    Step { name: "tests", says: "all tests but those of the next steps pass, examples build", pace: Pace::Fast, work: Work::Call(tests) },
    Step { name: "doctests", says: "the examples in the documentation run", pace: Pace::Full, work: Work::Lines(doctests) },
    Step { name: "docs", says: "the documentation builds without a warning", pace: Pace::Full, work: Work::Lines(docs) },
    Step { name: "deny", says: "licences, bans and sources of all dependencies are those of deny.toml", pace: Pace::Full, work: Work::Call(deny) },
    Step { name: "postgres", says: "a private PostgreSQL starts, is durable, hears only this machine, and goes", pace: Pace::Full, work: Work::Call(ground::postgres::smoke) },
    Step { name: "stores", says: "the tests with `postgres` in their name pass on a private server", pace: Pace::Full, work: Work::Call(stores) },
    Step { name: "simulator", says: "300 clusters with every kind of fault keep every promise, by an oracle of its own", pace: Pace::Full, work: Work::Call(simulator) },
    Step { name: "faults", says: "the program killed at each named place, and a store killed under load, keep their promises, by independent readers", pace: Pace::Full, work: Work::Call(faults) },
    Step { name: "end-to-end", says: "the program, built for release, does what the tests named e2e_* ask, on both databases", pace: Pace::Full, work: Work::Call(end_to_end) },
];

/// Test targets with this at the start of their name are slow: they drive the real program.
const END_TO_END_PREFIX: &str = "e2e_";

/// Test targets with this at the start of their name put a store through the whole suite, which takes a minute or two.
const CONFORMANCE_PREFIX: &str = "conformance_";

/// Test targets with this in their name need a PostgreSQL server.
const POSTGRES_PART: &str = "postgres";

/// The suite that every store passes, simulations, traces, places to be killed at and rules to be taken out are behind features. Whatever is built
/// for the check has the same ones: with others everything would be built once more.
pub(crate) const SUITE: [&str; 2] = [
    "--features",
    "punctual-store/conformance,punctual-engine/harness,punctual/otel,punctual/fail-points,punctual-plan/rule-switches",
];

/// Tells the end-to-end tests which program to drive; without it they take the one cargo built for them.
const BINARY_VARIABLE: &str = "PUNCTUAL_TEST_BINARY";

/// Version of cargo-deny to install where there is none. It looks at a few hundred crates, and is built sooner than it would
/// be made quick.
const DENY_VERSION: &str = "0.20.2";

fn cargo(arguments: &str) -> Line {
    Line::new(["cargo"].into_iter().chain(arguments.split(' ')))
}

fn fmt() -> Vec<Line> {
    vec![cargo("fmt --all --check")]
}

fn clippy() -> Vec<Line> {
    vec![cargo("clippy --workspace --all-targets --all-features -- -D warnings")]
}

fn tidy(_pace: Pace) -> Result<String, Failure> {
    crate::tidy::judge()?;
    Ok(format!("{} rules", crate::tidy::RULES.len()))
}

fn doctests() -> Vec<Line> {
    vec![Line::new(["cargo", "test", "--workspace", "--doc"].into_iter().chain(SUITE))]
}

fn docs() -> Vec<Line> {
    vec![cargo("doc --workspace --no-deps").with("RUSTDOCFLAGS", "-D warnings")]
}

fn tests(pace: Pace) -> Result<String, Failure> {
    let mut targets = test_targets(&repository::crates(&repository::root()?)?);
    let mut left = targets.end_to_end.join(", ");
    if pace == Pace::Fast {
        let slow: Vec<String> =
            targets.ordinary.extract_if(.., |name| name.starts_with(CONFORMANCE_PREFIX)).collect();
        left = format!("{left}; left out by --fast: {}", slow.join(", "));
    }
    // A test starts them as people do; built as tests they have no `main`.
    shown(&Line::new(["cargo", "build", "--workspace", "--examples"].into_iter().chain(SUITE)))?;
    if pace == Pace::Full {
        shown(&built_tests(&targets))?;
        ahead::build(&crate::sim::build_line())?;
    }
    shown(&tests_line(&targets, &["--skip", POSTGRES_PART]))?;
    Ok(format!("end-to-end ones have a step of their own: {left}"))
}

/// The program as the step `tests` has built it.
pub(super) fn program_of_tests() -> Result<PathBuf, Failure> {
    let root = repository::root()?;
    shown(&built_tests(&test_targets(&repository::crates(&root)?)))?;
    Ok(repository::target_directory(&root)?.join("debug/punctual"))
}

/// Builds what the next one runs.
fn built_tests(targets: &TestTargets) -> Line {
    let named = targets.ordinary.iter().flat_map(|name| ["--test", name]);
    let kinds = ["cargo", "test", "--no-run", "--workspace", "--lib", "--bins", "--examples"];
    Line::new(kinds.into_iter().chain(SUITE).chain(named))
}

/// `cargo test` with every target but the slow ones, which it has no flag to leave out; `rest` chooses among their tests.
fn tests_line<'a>(targets: &'a TestTargets, rest: &[&'a str]) -> Line {
    let named = targets.ordinary.iter().flat_map(|name| ["--test", name]);
    let kinds = ["cargo", "test", "--workspace", "--lib", "--bins", "--examples"];
    Line::new(kinds.into_iter().chain(SUITE).chain(named).chain(["--"]).chain(rest.iter().copied()))
}

/// The tests that talk to PostgreSQL, each in databases of its own on one private server.
fn stores(_pace: Pace) -> Result<String, Failure> {
    let targets = test_targets(&repository::crates(&repository::root()?)?);
    if targets.postgres.is_empty() {
        let hint = format!("a test that needs a server has `{POSTGRES_PART}` in its name");
        return Err(Failure::new("there is no test on PostgreSQL", hint));
    }
    let server = ground::postgres::Server::start()?;
    let named = targets.postgres.iter().flat_map(|name| ["--test", name]);
    let line = Line::new(["cargo", "test", "--workspace"].into_iter().chain(SUITE).chain(named));
    shown(&server.told_to(line)?)?;
    shown(&server.told_to(tests_line(&targets, &[POSTGRES_PART]))?)?;
    Ok(format!("{}, and the tests of others with it in their name", targets.postgres.join(", ")))
}

fn simulator(_pace: Pace) -> Result<String, Failure> {
    crate::sim::bounded()
}

fn faults(_pace: Pace) -> Result<String, Failure> {
    crate::faults::bounded()
}

fn end_to_end(_pace: Pace) -> Result<String, Failure> {
    let targets = test_targets(&repository::crates(&repository::root()?)?);
    if targets.end_to_end.is_empty() {
        let hint = format!("a test of the whole program is a file `tests/{END_TO_END_PREFIX}….rs`");
        return Err(Failure::new("there is no end-to-end test", hint));
    }
    let binary = crate::sim::program()?.display().to_string();
    let server = ground::postgres::Server::start()?;
    let named = targets.end_to_end.iter().flat_map(|name| ["--test", name]);
    let line = Line::new(["cargo", "test", "--workspace"].into_iter().chain(SUITE).chain(named));
    shown(&line.with(BINARY_VARIABLE, &binary).with(ground::postgres::URL_VARIABLE, &server.url()))?;
    Ok(targets.end_to_end.join(", "))
}

/// The integration tests of the workspace, by name.
#[derive(Default)]
struct TestTargets {
    ordinary: Vec<String>,
    postgres: Vec<String>,
    end_to_end: Vec<String>,
}

fn test_targets(crates: &[Crate]) -> TestTargets {
    let mut targets = TestTargets::default();
    for (member, target) in crates.iter().flat_map(|one| one.targets.iter().map(move |target| (one, target)))
    {
        // What wants a feature that the others do not have has a step of its own.
        let has =
            |feature: &String| SUITE[1].split(',').any(|one| one == format!("{}/{feature}", member.name));
        let is_test =
            target.kind.iter().any(|kind| kind == "test") && target.required_features.iter().all(has);
        let names = if target.name.starts_with(END_TO_END_PREFIX) {
            &mut targets.end_to_end
        } else if target.name.contains(POSTGRES_PART) {
            &mut targets.postgres
        } else {
            &mut targets.ordinary
        };
        // The same name in two crates is one `--test` argument.
        if is_test && !names.contains(&target.name) {
            names.push(target.name.clone());
        }
    }
    targets
}

/// Licences, bans and sources need no network. Advisories need their database: where it cannot be had, that is said.
fn deny(_pace: Pace) -> Result<String, Failure> {
    if cargo("deny --version").output().is_err() {
        shown(&cargo(&format!("install --debug --locked cargo-deny --version {DENY_VERSION}")))?;
    }
    shown(&cargo("deny --workspace check licenses bans sources"))?;
    match cargo("deny fetch db").output() {
        Ok(_) => shown(&cargo("deny --workspace check advisories --disable-fetch"))
            .map(|()| "advisories checked too".to_owned()),
        Err(failure) => {
            let reason = failure.what.lines().last().unwrap_or_default();
            println!("   advisories are NOT checked, their database cannot be had here: {reason}");
            Ok("advisories NOT checked: no database here".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::Target;

    #[test]
    fn slow_tests_and_those_with_a_server_are_told_from_the_others_by_name() {
        let target = |name: &str, kind: &str| Target {
            name: name.to_owned(),
            kind: vec![kind.to_owned()],
            required_features: Vec::new(),
        };
        let targets = vec![
            target("punctual", "bin"),
            target("e2e_kill", "test"),
            target("conformance_postgres", "test"),
            target("cli", "test"),
            target("cli", "test"),
            Target { required_features: vec!["switches".to_owned()], ..target("eyes", "test") },
            Target { required_features: vec!["otel".to_owned()], ..target("spans", "test") },
        ];
        let member = Crate {
            name: "punctual".to_owned(),
            manifest_path: String::new(),
            dependencies: Vec::new(),
            targets,
        };
        let targets = test_targets(&[member]);
        assert_eq!(
            (targets.end_to_end.len(), &targets.postgres[..]),
            (1, &["conformance_postgres".to_owned()][..])
        );
        assert_eq!(
            tests_line(&targets, &["postgres"]).to_string(),
            "cargo test --workspace --lib --bins --examples --features punctual-store/conformance,punctual-engine/harness,punctual/otel,punctual/fail-points,punctual-plan/rule-switches --test cli --test spans -- postgres"
        );
    }

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}
