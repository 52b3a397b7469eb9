//! `cargo xtask bench NAME`: builds the benchmarks for release and runs one, beside a private server if it needs one.

use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::{Server, URL_VARIABLE};
use crate::line::Line;
use crate::{ground, peers, repository, stress};

const USAGE: &str = "cargo xtask bench store [--parts runs,register,open,copy,retain] [--databases sqlite,postgres] [--sizes 10k,100k,1M] \
     [--repeats 3] [--runs 200k] [--ledger 1M], or the same without parts for bench throughput and bench register, or \
     cargo xtask bench herd|steady [--databases sqlite,postgres] [--sizes 10k,100k] [--repeats 5] [--seconds 60], or \
     cargo xtask bench crash|outage [--databases sqlite,postgres] [--sizes 10k] [--repeats 5] [--gap SECONDS], or \
     cargo xtask bench growth [--sizes 1k,10k,100k,1M] [--repeats 1] [--then compare|replace], or \
     cargo xtask bench idle [--databases sqlite,postgres] [--schedules 1M], or cargo xtask bench api [SECONDS], or \
     cargo xtask bench peers [--peers NAME,…] [--parts herd,steady,crash,outage] [--databases sqlite,postgres] [--repeats 3] [--seconds 20]";

/// What the driver measures by itself.
const DRIVEN: &[&str] = &["store", "throughput", "register", "herd", "steady", "crash", "outage", "growth"];

/// Where the instructions of a tick are kept, from the root.
const GROWTH_FILE: &str = "docs/bench/growth.json";

/// Runs a benchmark; its JSON goes to `bench/NAME.json` in the target folder.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    if let Some(("api", rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return api(rest);
    }
    if let Some(("idle", rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return idle(rest);
    }
    if let Some(("peers", rest)) = arguments.split_first().map(|(name, rest)| (name.as_str(), rest)) {
        return peers::command(rest);
    }
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| DRIVEN.contains(&name.as_str()))
    else {
        return Err(Failure::new("there is no such benchmark", USAGE));
    };
    if name == "growth" {
        ground::valgrind()?;
    }
    // What starts soonest, and keeps nothing, stands beside ours.
    let beside = if ["herd", "steady"].contains(&name.as_str()) { peers::beside()? } else { Vec::new() };
    let mut lines = vec![driven(name, &[beside.as_slice(), rest].concat())?];
    if name == "register" {
        lines.push(singles(rest)?);
    }
    let server = match needs_server(name, rest) {
        // Five million runs in five minutes are what the guide says how to set up a server for.
        true if name == "steady" => Some(Server::start_roomy()?),
        true => Some(Server::start()?),
        false => None,
    };
    for line in lines {
        let line = match &server {
            Some(server) => line.with(URL_VARIABLE, &server.url()),
            None => line,
        };
        line.run()?;
    }
    Ok(())
}

/// Builds the driver; the line by which it measures something.
pub(crate) fn driven(name: &str, rest: &[String]) -> Result<Line, Failure> {
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench"]))?;
    // What the build has written goes to the disk before anything is measured that waits for the disk.
    shown(&Line::new(["sync"]))?;
    let root = repository::root()?;
    let target = repository::target_directory(&root)?;
    let program = target.join("release/punctual-bench").display().to_string();
    let out = target.join(format!("bench/{name}.json")).display().to_string();
    let kept = root.join(GROWTH_FILE).display().to_string();
    let words: &[&str] = match name {
        // The same measurement has two names: what the store bears, and what becomes of a run.
        "throughput" => &["store", "--out", &out, "--parts", "runs"],
        // In calls of thousands; one by one they are made over HTTP, as people do.
        "register" => &["store", "--out", &out, "--parts", "register", "--sizes", "100k"],
        "growth" => &["growth", "--out", &out, "--kept", &kept],
        _ => &[name, "--out", &out],
    };
    let words = words.iter().copied().chain(rest.iter().map(String::as_str));
    Ok(Line::new([program.as_str()].into_iter().chain(words)))
}

/// What a million schedules cost that are far from due.
fn idle(rest: &[String]) -> Result<(), Failure> {
    let words = ["--parts", "idle", "--schedules", "1M", "--databases", "sqlite,postgres"].map(str::to_owned);
    stress::command(&[&words, rest].concat())
}

/// What the HTTP door bears while schedules fire.
fn api(rest: &[String]) -> Result<(), Failure> {
    Line::new(door()?.into_iter().chain(rest.iter().cloned())).run()
}

/// Builds the program and what asks it over HTTP; the line's first words.
fn door() -> Result<[String; 2], Failure> {
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual"]))?;
    shown(&Line::new(["cargo", "build", "--release", "--package", "punctual-bench", "--bin", "api"]))?;
    let release = repository::target_directory(&repository::root()?)?.join("release");
    Ok(["api", "punctual"].map(|name| release.join(name).display().to_string()))
}

/// Schedules made one by one over HTTP, on the databases that were asked for.
fn singles(rest: &[String]) -> Result<Line, Failure> {
    let target = repository::target_directory(&repository::root()?)?;
    let out = target.join("bench/register-http.json").display().to_string();
    let words = door()?.into_iter().chain(["register".to_owned(), "--out".to_owned(), out]);
    let databases = rest.chunks(2).filter(|pair| pair[0] == "--databases").flatten().cloned();
    Ok(Line::new(words.chain(databases)))
}

/// Whether PostgreSQL is measured; a copy goes there and back whatever else is asked for.
fn needs_server(name: &str, words: &[String]) -> bool {
    let asks = |option: &str, value: &str| match words.iter().position(|word| word == option) {
        Some(at) => words.get(at + 1).is_some_and(|values| values.split(',').any(|one| one == value)),
        None => true,
    };
    match name {
        "growth" => false,
        "store" => asks("--databases", "postgres") || asks("--parts", "copy"),
        _ => asks("--databases", "postgres"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_started_only_for_what_needs_it() {
        let check = |words: &[&str], expected: bool| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(needs_server(&words[0], &words[1..]), expected, "{words:?}");
        };
        check(&["store"], true);
        check(&["store", "--databases", "sqlite"], true);
        check(&["store", "--databases", "sqlite", "--parts", "runs,open"], false);
        check(&["store", "--databases", "sqlite", "--parts", "runs,copy"], true);
        check(&["store", "--databases", "sqlite,postgres", "--parts", "runs"], true);
        check(&["throughput", "--databases", "sqlite"], false);
        check(&["crash"], true);
        check(&["crash", "--databases", "sqlite"], false);
        check(&["growth"], false);
    }
}
