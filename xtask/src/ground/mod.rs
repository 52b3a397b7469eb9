//! What the checks need from outside cargo: programs from Debian packages, and a database server of our own.
//!
//! [`NEEDS`] is the list. What is missing is installed when we may, and named with the exact command when we may not.

mod apt;
mod pages;
pub(crate) mod postgres;

pub(crate) use apt::install;

use std::path::{Path, PathBuf};

use crate::check::Pace;
use crate::failure::Failure;

/// A program that some step uses.
pub(crate) struct Need {
    /// The program to look for.
    program: &'static str,
    /// The Debian package that brings it.
    package: &'static str,
    /// Which step uses it, and for what.
    why: &'static str,
    /// [`Pace::Fast`] if the inner loop needs it as well.
    pace: Pace,
}

/// What the steps use today.
#[rustfmt::skip]
const NEEDS: &[Need] = &[
    Need { program: "git", package: "git", why: "tidy asks it which files belong to the repository", pace: Pace::Fast },
    Need { program: "cc", package: "build-essential", why: "links every Rust program and compiles the bundled SQLite", pace: Pace::Fast },
    Need { program: "python3", package: "python3", why: "reads the ledger independently of our own code", pace: Pace::Fast },
    Need { program: "sqlite3", package: "sqlite3", why: "opens our database files as a stranger would", pace: Pace::Fast },
    Need { program: "postgres", package: "postgresql", why: "the private server of `with-postgres`", pace: Pace::Full },
    Need { program: "psql", package: "postgresql-client", why: "asks that server what it is", pace: Pace::Full },
    Need { program: "setpriv", package: "util-linux", why: "runs that server as another user when we are root", pace: Pace::Full },
];

/// Where Debian keeps PostgreSQL's server programs, one folder a version, none of them on the PATH.
const POSTGRES_FOLDER: &str = "/usr/lib/postgresql";

/// `cargo xtask ground`: what the whole check needs.
pub(crate) fn command(_arguments: &[String]) -> Result<(), Failure> {
    provide(Pace::Full).map(|note| println!("ground: {note}"))
}

/// Looks for everything that this pace needs, installs what is missing, and looks again.
pub(crate) fn provide(pace: Pace) -> Result<String, Failure> {
    let asked: Vec<&Need> =
        NEEDS.iter().filter(|need| pace == Pace::Full || need.pace == Pace::Fast).collect();
    let missing: Vec<&Need> = asked.iter().copied().filter(|need| found(need.program).is_none()).collect();
    if missing.is_empty() {
        return Ok(format!("{} programs found", asked.len()));
    }
    for need in &missing {
        println!("   missing: `{}` (package {}): {}", need.program, need.package, need.why);
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    apt::install(&packages)?;
    match missing.iter().find(|need| found(need.program).is_none()) {
        None => Ok(format!("{} programs found, installed {}", asked.len(), packages.join(" "))),
        Some(need) => Err(Failure::new(
            format!("package `{}` is installed, but there is still no `{}`", need.package, need.program),
            "is it somewhere outside the PATH?",
        )),
    }
}

/// A library that lets a program see another time than the machine's; it is installed if it is missing.
pub(crate) fn faketime() -> Result<PathBuf, Failure> {
    if library().is_none() {
        apt::install(&["libfaketime"])?;
    }
    library()
        .ok_or_else(|| Failure::new("there is no `libfaketimeMT.so.1`", "install the package `libfaketime`"))
}

/// A machine that counts the instructions of a program; it is installed if it is missing.
pub(crate) fn valgrind() -> Result<(), Failure> {
    provide_program("valgrind", "valgrind")
}

/// Installs a package if a program of it is missing.
pub(crate) fn provide_program(program: &str, package: &str) -> Result<(), Failure> {
    if found(program).is_none() {
        apt::install(&[package])?;
    }
    match found(program) {
        Some(_) => Ok(()),
        None => {
            Err(Failure::new(format!("there is no `{program}`"), format!("install the package `{package}`")))
        }
    }
}

/// Where Debian keeps it: in a folder of the architecture.
fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1")).find(|file| file.is_file())
}

/// Where a program is: on the PATH, or in the folder of the newest PostgreSQL.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    let folders = on_path.into_iter().chain(postgres_folders(Path::new(POSTGRES_FOLDER)));
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// The `bin` folders of all installed versions, the newest first.
fn postgres_folders(above: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(above).into_iter().flatten().flatten();
    let version = |name: &str| name.parse::<u32>().ok();
    let mut versions: Vec<u32> = entries.filter_map(|entry| version(entry.file_name().to_str()?)).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.into_iter().map(|version| above.join(version.to_string()).join("bin")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_path_and_a_made_up_one_is_not() {
        assert!(found("cargo").is_some());
        assert_eq!(found("no-such-program-here"), None);
    }

    #[test]
    fn every_need_says_why() {
        assert!(NEEDS.iter().all(|need| !need.why.is_empty() && !need.package.is_empty()));
    }

    #[test]
    fn the_newest_postgres_comes_first() {
        let folder = std::env::temp_dir().join(format!("punctual-versions-{}", std::process::id()));
        for version in ["9", "15", "17", "not-a-version"] {
            std::fs::create_dir_all(folder.join(version)).expect("the temporary folder is writable");
        }
        let folders = postgres_folders(&folder);
        std::fs::remove_dir_all(&folder).expect("it was just made");
        assert_eq!(folders, ["17", "15", "9"].map(|version| folder.join(version).join("bin")));
    }
}
