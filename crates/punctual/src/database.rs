//! Which database is meant: the flag, else the environment, else the file in the user's data folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Failure;

/// Where the ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    path: PathBuf,
}

impl Database {
    /// The database that `text` names (a path, or `sqlite:PATH`), or the default one.
    ///
    /// # Errors
    /// When the text names a database that this version cannot use, or no data folder is known.
    ///
    /// ```
    /// use punctual::Database;
    ///
    /// assert_eq!(Database::choose(Some("sqlite:jobs.db"))?.path(), std::path::Path::new("jobs.db"));
    /// # Ok::<(), punctual::Failure>(())
    /// ```
    pub fn choose(text: Option<&str>) -> Result<Self, Failure> {
        let path = match text {
            Some(text) => named(text)?,
            None => data_folder(|name| std::env::var_os(name))?.join("punctual.db"),
        };
        Ok(Self { path })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The launch journal that belongs to it.
    pub fn journal(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".launches");
        name.into()
    }
}

fn named(text: &str) -> Result<PathBuf, Failure> {
    let path = match text.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        Some((scheme @ ("postgres" | "postgresql" | "mysql"), _)) => {
            return Err(Failure::invalid(
                format!("`{scheme}` databases are not supported by this version"),
                "give the path of a SQLite file",
            ));
        }
        _ => text,
    };
    if path.is_empty() || path == ":memory:" {
        return Err(Failure::invalid(
            format!("`{text}` names no file"),
            "give the path of a SQLite file, such as `punctual.db`; it is created if it is missing",
        ));
    }
    Ok(path.into())
}

/// The user's folder for data, as their system has it.
fn data_folder(var: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Failure> {
    let set = |name| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let under_home = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
    set("XDG_DATA_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| Some(set("HOME")?.join(under_home)))
        .map(|folder| folder.join("punctual"))
        .ok_or_else(|| {
            Failure::invalid("no data folder is known: `HOME` is not set", "give `--database PATH`")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(vars: &[(&str, &str)]) -> Option<PathBuf> {
        let find = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        data_folder(find).ok()
    }

    #[test]
    fn the_data_folder_is_the_one_of_the_user() {
        assert_eq!(folder(&[("XDG_DATA_HOME", "/data"), ("HOME", "/h")]), Some("/data/punctual".into()));
        assert_eq!(folder(&[("XDG_DATA_HOME", "relative")]), None);
        assert_eq!(folder(&[]), None);
    }

    #[test]
    fn a_database_that_cannot_be_used_is_refused_with_a_hint() {
        for text in ["postgres://localhost/x", ":memory:", "sqlite:", ""] {
            let failure = Database::choose(Some(text)).expect_err(text);
            assert!(failure.hint.is_some(), "{text}");
        }
        assert_eq!(Database::choose(Some("sqlite://a/b.db")).map(|it| it.path).ok(), Some("a/b.db".into()));
    }
}
