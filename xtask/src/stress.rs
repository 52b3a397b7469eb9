//! `cargo xtask stress`: the release binary with a huge file, a huge ledger and a herd of programs.

use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::{Server, URL_VARIABLE};
use crate::line::Line;
use crate::{release, repository};

/// Builds the program and what drives it, and lets it; its JSON goes to `bench/stress.json` in the target folder.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let program = release::program()?.display().to_string();
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench"]))?;
    let target = repository::target_directory(&repository::root()?)?;
    let driver = target.join("release/punctual-bench").display().to_string();
    let out = target.join("bench/stress.json").display().to_string();
    let words = [driver.as_str(), "stress", "--program", program.as_str(), "--out", out.as_str()];
    let line = Line::new(words.into_iter().chain(arguments.iter().map(String::as_str)));
    let needs_server = arguments.iter().any(|word| word.split(',').any(|one| one == "postgres"));
    if !needs_server {
        return line.run();
    }
    let server = Server::start()?;
    line.with(URL_VARIABLE, &server.url()).run()
}
