//! `cargo xtask bench store`: builds the benchmarks for release and runs one, beside a private server if it needs one.

use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::{Server, URL_VARIABLE};
use crate::line::Line;
use crate::repository;

const USAGE: &str =
    "cargo xtask bench store [--databases sqlite,postgres] [--sizes 10k,100k,1M] [--repeats 3] [--runs 200k]";

/// Runs a benchmark; its JSON goes to `bench/NAME.json` in the target folder.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| name.as_str() == "store") else {
        return Err(Failure::new("there is no such benchmark", USAGE));
    };
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench"]))?;
    let target = repository::target_directory(&repository::root()?)?;
    let program = target.join("release/punctual-bench").display().to_string();
    let out = target.join(format!("bench/{name}.json")).display().to_string();
    let words = [program.as_str(), name, "--out", out.as_str()];
    let line = Line::new(words.into_iter().chain(rest.iter().map(String::as_str)));
    let needs_server = match rest.iter().position(|word| word == "--databases") {
        Some(at) => rest.get(at + 1).is_some_and(|databases| databases.contains("postgres")),
        None => true,
    };
    if !needs_server {
        return line.run();
    }
    let server = Server::start()?;
    line.with(URL_VARIABLE, &server.url()).run()
}
