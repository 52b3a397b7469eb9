//! Which database is meant: the flag, else the environment, else the file in the user's data folder.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use punctual_engine::Vault;
use punctual_store::{Access, AnyStore, Postgres, PostgresSettings, Sqlite};

use crate::Failure;

/// The name of the file that holds the key of the secrets.
const KEY_FILE: &str = "punctual.key";

/// Where the ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Database {
    /// In one file.
    Sqlite {
        /// The file.
        path: PathBuf,
    },
    /// In a PostgreSQL server.
    Postgres {
        /// Its address, with whatever it takes to get in.
        url: String,
    },
}

impl Database {
    /// The database that `text` names (a path, `sqlite:PATH` or `postgres://…`), or the default one.
    ///
    /// # Errors
    /// When the text names a database that this version cannot use, or no data folder is known.
    ///
    /// ```
    /// use punctual_app::Database;
    ///
    /// assert_eq!(Database::choose(Some("sqlite:jobs.db"))?.to_string(), "jobs.db");
    /// assert_eq!(Database::choose(Some("postgres://ada:secret@db/jobs"))?.to_string(), "postgres://ada@db/jobs");
    /// # Ok::<(), punctual_app::Failure>(())
    /// ```
    pub fn choose(text: Option<&str>) -> Result<Self, Failure> {
        match text {
            Some(text) => named(text),
            None => {
                Ok(Self::Sqlite { path: data_folder(|name| std::env::var_os(name))?.join("punctual.db") })
            }
        }
    }

    /// Opens it; creates the tables that are missing.
    ///
    /// # Errors
    /// When it cannot be reached or opened, or a newer version wrote it.
    pub async fn open(&self, access: Access) -> Result<AnyStore, Failure> {
        Ok(match self {
            Self::Sqlite { path } => AnyStore::Sqlite(Sqlite::open(path, access)?),
            Self::Postgres { url } => {
                let settings = PostgresSettings { access, ..PostgresSettings::new(url) };
                AnyStore::Postgres(Postgres::open(settings).await?)
            }
        })
    }

    /// Whether there is something to open; a server is taken at its word.
    pub fn exists(&self) -> bool {
        match self {
            Self::Sqlite { path } => path.exists(),
            Self::Postgres { .. } => true,
        }
    }

    /// The launch journal of a node that serves it.
    ///
    /// # Errors
    /// When no data folder is known.
    pub fn journal(&self) -> Result<PathBuf, Failure> {
        match self {
            Self::Sqlite { path } => {
                let mut name = path.as_os_str().to_owned();
                name.push(".launches");
                Ok(name.into())
            }
            // Nodes on one host have one each; what a dead node leaves is in doubt for the others.
            Self::Postgres { .. } => {
                let folder = data_folder(|name| std::env::var_os(name))?;
                std::fs::create_dir_all(&folder).map_err(|error| {
                    Failure::world(format!("cannot create `{}`: {error}", folder.display()))
                })?;
                Ok(folder.join(format!("node-{}.launches", std::process::id())))
            }
        }
    }

    /// What seals its secrets: the key in the file that `PUNCTUAL_KEY_FILE` names, else in `punctual.key` beside the
    /// journal. Nodes that share a database share the key.
    ///
    /// # Errors
    /// When no data folder is known.
    pub fn vault(&self) -> Result<Vault, Failure> {
        let named = std::env::var_os("PUNCTUAL_KEY_FILE").filter(|path| !path.is_empty());
        let path = match (named, self) {
            (Some(path), _) => path.into(),
            (None, Self::Sqlite { path }) => path.with_file_name(KEY_FILE),
            (None, Self::Postgres { .. }) => data_folder(|name| std::env::var_os(name))?.join(KEY_FILE),
        };
        Ok(Vault::new(path))
    }
}

impl fmt::Display for Database {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite { path } => path.display().fmt(f),
            Self::Postgres { url } => f.write_str(&without_password(url)),
        }
    }
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let Some((login, place)) = rest.rsplit_once('@') else { return url.to_owned() };
    let user = login.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{place}")
}

fn named(text: &str) -> Result<Database, Failure> {
    let path = match text.split_once(':') {
        Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
        Some(("postgres" | "postgresql", _)) => return Ok(Database::Postgres { url: text.to_owned() }),
        Some((scheme @ ("mysql" | "mariadb" | "mssql"), _)) => {
            return Err(Failure::invalid(
                format!("`{scheme}` databases are not supported"),
                "give the path of a SQLite file, or `postgres://…`",
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
    Ok(Database::Sqlite { path: path.into() })
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
        for text in ["mysql://localhost/x", ":memory:", "sqlite:", ""] {
            let failure = Database::choose(Some(text)).expect_err(text);
            assert!(failure.hint.is_some(), "{text}");
        }
        let file = Database::choose(Some("sqlite://a/b.db")).expect("a file");
        assert_eq!(file, Database::Sqlite { path: "a/b.db".into() });
    }
}
