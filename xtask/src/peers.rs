//! `cargo xtask bench peers`: installs the schedulers of others into a folder of our own and lets the driver put them beside us.
//!
//! What cannot be installed leaves its error in `NAME.absent`, which the driver puts into the table instead of figures.

use std::path::{Path, PathBuf};

use crate::bench;
use crate::check::shown;
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::ground::{self, found};
use crate::line::Line;
use crate::repository;

/// A way to install some of them.
struct Way {
    /// Those that come by it.
    peers: &'static [&'static str],
    install: fn(&Place) -> Result<(), Failure>,
}

#[rustfmt::skip]
const WAYS: &[Way] = &[
    Way { peers: &["pg-boss", "graphile-worker", "bullmq"], install: node },
    Way { peers: &["bullmq"], install: redis },
    Way { peers: &["aps3"], install: |place| python(place, "aps3") },
    Way { peers: &["aps4"], install: |place| python(place, "aps4") },
    Way { peers: &["apalis-cron", "tokio-cron-scheduler"], install: rust },
    Way { peers: &["pg_cron"], install: pg_cron },
];

/// Where the drivers are, and where they and what they need is put.
struct Place {
    drivers: PathBuf,
    installed: PathBuf,
}

/// Installs the one that stands beside our herds; the words by which the driver finds it.
pub(crate) fn beside() -> Result<Vec<String>, Failure> {
    let place = Place::new()?;
    rust(&place)?;
    Ok(place.words())
}

/// Installs them and runs the driver.
pub(crate) fn command(rest: &[String]) -> Result<(), Failure> {
    let place = Place::new()?;
    for way in WAYS.iter().filter(|way| is_asked(rest, way.peers)) {
        forget(&place, way.peers)?;
    }
    for way in WAYS.iter().filter(|way| is_asked(rest, way.peers)) {
        if let Err(failure) = (way.install)(&place) {
            eprintln!("{} cannot be installed\n{failure}", way.peers.join(", "));
            note(&place, way.peers, &failure)?;
        }
    }
    let line = bench::driven("peers", &[&place.words(), rest].concat())?;
    Server::start()?.told_to(line)?.run()
}

/// Whether some of these are asked for: all are, unless the line says which.
fn is_asked(words: &[String], peers: &[&str]) -> bool {
    match words.iter().position(|word| word == "--peers").and_then(|at| words.get(at + 1)) {
        Some(names) => names.split(',').any(|name| peers.contains(&name)),
        None => true,
    }
}

/// Takes away what an earlier try has left.
fn forget(place: &Place, peers: &[&str]) -> Result<(), Failure> {
    for file in peers.iter().map(|peer| place.absent(peer)).filter(|file| file.exists()) {
        std::fs::remove_file(&file).map_err(|error| unwritable(&file, &error))?;
    }
    Ok(())
}

/// Leaves a word where a peer could not be installed.
fn note(place: &Place, peers: &[&str], failure: &Failure) -> Result<(), Failure> {
    for file in peers.iter().map(|peer| place.absent(peer)) {
        std::fs::write(&file, &failure.what).map_err(|error| unwritable(&file, &error))?;
    }
    Ok(())
}

impl Place {
    fn new() -> Result<Self, Failure> {
        let root = repository::root()?;
        let installed = repository::target_directory(&root)?.join("peers");
        make(&installed)?;
        Ok(Self { drivers: root.join("bench/peers"), installed })
    }

    /// The words by which the driver finds them.
    fn words(&self) -> Vec<String> {
        ["--drivers", &text(&self.drivers), "--installed", &text(&self.installed)].map(str::to_owned).to_vec()
    }

    /// Where it is said why a peer is not there.
    fn absent(&self, peer: &str) -> PathBuf {
        self.installed.join(format!("{peer}.absent"))
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}`: {error}", path.display()), "is there room, and the right to write?")
}

/// The packages of the lock file, a newer Node among them: some do not work with older ones.
fn node(place: &Place) -> Result<(), Failure> {
    ground::provide_program("npm", "npm")?;
    let folder = place.installed.join("node");
    make(&folder)?;
    for file in ["package.json", "package-lock.json", "driver.mjs"] {
        copy(&place.drivers.join("node").join(file), &folder.join(file))?;
    }
    // The lock file of one system lacks what packages have for others, which `npm ci` does not forgive.
    shown(&Line::new([
        "npm",
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--prefix",
        &text(&folder),
    ]))?;
    there(&folder.join("node_modules/node/bin/node"))
}

fn redis(_place: &Place) -> Result<(), Failure> {
    ground::provide_program("redis-server", "redis-server")
}

/// A folder with its own packages, at the versions of the list.
fn python(place: &Place, name: &str) -> Result<(), Failure> {
    let folder = place.installed.join(name);
    let list = text(&place.drivers.join(format!("python/{name}.txt")));
    if !folder.join("bin/python").exists() {
        shown(&Line::new(["python3", "-m", "venv", &text(&folder)]))?;
    }
    let pip = text(&folder.join("bin/pip"));
    shown(&Line::new([pip.as_str(), "install", "--quiet", "--disable-pip-version-check", "-r", &list]))
}

/// A crate of its own, which the workspace does not know.
fn rust(place: &Place) -> Result<(), Failure> {
    let (manifest, target) =
        (text(&place.drivers.join("rust/Cargo.toml")), text(&place.installed.join("rust")));
    let words =
        ["cargo", "build", "--release", "--locked", "--manifest-path", &manifest, "--target-dir", &target];
    shown(&Line::new(words))
}

/// The extension for the version of PostgreSQL that is there.
fn pg_cron(_place: &Place) -> Result<(), Failure> {
    let none = || Failure::new("there is no `pg_ctl`", "`cargo xtask ground` installs PostgreSQL");
    let program = found("pg_ctl").ok_or_else(none)?;
    let said = Line::new([text(&program).as_str(), "--version"]).output()?;
    let number =
        said.split_whitespace().last().and_then(|number| number.split('.').next()).unwrap_or_default();
    let library = PathBuf::from(format!("/usr/lib/postgresql/{number}/lib/pg_cron.so"));
    if !library.exists() {
        ground::install(&[&format!("postgresql-{number}-cron")])?;
    }
    there(&library)
}

fn there(path: &Path) -> Result<(), Failure> {
    let hint = "remove the folder and run it again";
    if path.exists() { Ok(()) } else { Err(Failure::new(format!("there is no `{}`", path.display()), hint)) }
}

fn make(folder: &Path) -> Result<(), Failure> {
    let made = std::fs::create_dir_all(folder);
    made.map_err(|error| unwritable(folder, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let copied = std::fs::copy(from, to);
    copied.map_err(|error| Failure::new(format!("`{}`: {error}", from.display()), "is it there?")).map(drop)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_installed() {
        let check = |words: &[&str], expected: bool| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(is_asked(&words, &["aps3", "bullmq"]), expected, "{words:?}");
        };
        check(&[], true);
        check(&["--peers", "bullmq,pg-boss"], true);
        check(&["--peers", "pg-boss", "--parts", "herd"], false);
        check(&["--peers", "none"], false);
    }
}
