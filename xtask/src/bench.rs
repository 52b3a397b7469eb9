//! `cargo xtask bench store|herd|steady|idle|api`: builds the benchmarks for release and runs one, beside a private server if it needs one.

use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::{Server, URL_VARIABLE};
use crate::line::Line;
use crate::{repository, stress};

const USAGE: &str = "cargo xtask bench store [--parts runs,register,open,copy,retain] [--databases sqlite,postgres] [--sizes 10k,100k,1M] \
     [--repeats 3] [--runs 200k] [--ledger 1M], or cargo xtask bench herd|steady [--databases sqlite,postgres] [--sizes 10k,100k] \
     [--repeats 5] [--seconds 60], or cargo xtask bench idle [--databases sqlite,postgres] [--schedules 1M], or \
     cargo xtask bench api [SECONDS]";

/// What the driver measures by itself.
const DRIVEN: &[&str] = &["store", "herd", "steady"];

/// Runs a benchmark; its JSON goes to `bench/NAME.json` in the target folder.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    if let Some(("api", rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return api(rest);
    }
    if let Some(("idle", rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return idle(rest);
    }
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| DRIVEN.contains(&name.as_str()))
    else {
        return Err(Failure::new("there is no such benchmark", USAGE));
    };
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench"]))?;
    let target = repository::target_directory(&repository::root()?)?;
    let program = target.join("release/punctual-bench").display().to_string();
    let out = target.join(format!("bench/{name}.json")).display().to_string();
    let words = [program.as_str(), name, "--out", out.as_str()];
    let line = Line::new(words.into_iter().chain(rest.iter().map(String::as_str)));
    if !needs_server(rest) {
        return line.run();
    }
    let server = Server::start()?;
    line.with(URL_VARIABLE, &server.url()).run()
}

/// What a million schedules cost that are far from due.
fn idle(rest: &[String]) -> Result<(), Failure> {
    let words = ["--parts", "idle", "--schedules", "1M", "--databases", "sqlite,postgres"].map(str::to_owned);
    stress::command(&[&words, rest].concat())
}

/// What the HTTP door bears while schedules fire.
fn api(rest: &[String]) -> Result<(), Failure> {
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual"]))?;
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench", "--bin", "api"]))?;
    let release = repository::target_directory(&repository::root()?)?.join("release");
    let words = ["api", "punctual"].map(|name| release.join(name).display().to_string());
    Line::new(words.iter().map(String::as_str).chain(rest.iter().map(String::as_str))).run()
}

/// Whether PostgreSQL is measured; a copy goes there and back whatever else is asked for.
fn needs_server(words: &[String]) -> bool {
    let asks = |option: &str, value: &str| match words.iter().position(|word| word == option) {
        Some(at) => words.get(at + 1).is_some_and(|values| values.split(',').any(|one| one == value)),
        None => true,
    };
    asks("--databases", "postgres") || asks("--parts", "copy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_only_for_what_needs_it() {
        let check = |words: &[&str], expected: bool| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(needs_server(&words), expected, "{words:?}");
        };
        check(&[], true);
        check(&["--databases", "sqlite"], true);
        check(&["--databases", "sqlite", "--parts", "runs,open"], false);
        check(&["--databases", "sqlite", "--parts", "runs,copy"], true);
        check(&["--databases", "sqlite,postgres", "--parts", "runs"], true);
    }
}
