//! What the database does so that a commit survives: its own settings, as it says them.

use crate::{AnyStore, Error};

/// A setting of a database that durability hangs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// Its name in that database.
    pub name: String,
    /// What it is set to, in small letters.
    pub value: String,
}

impl Guarantee {
    /// Whether a commit that was answered survives a crash and a power loss with it.
    ///
    /// ```
    /// use punctual_store::Guarantee;
    ///
    /// let set = |name: &str, value: &str| Guarantee { name: name.to_owned(), value: value.to_owned() };
    /// assert!(set("synchronous", "full").is_kept() && !set("synchronous", "off").is_kept());
    /// assert!(!set("fsync", "off").is_kept());
    /// ```
    pub fn is_kept(&self) -> bool {
        let good: &[&str] = match self.name.as_str() {
            "journal_mode" => &["wal"],
            "synchronous" => &["full", "extra"],
            "synchronous_commit" => &["on", "local", "remote_write", "remote_apply"],
            _ => &["on"],
        };
        good.contains(&self.value.as_str())
    }
}

impl AnyStore {
    /// The settings that durability hangs on; none for a store that keeps nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn guarantees(&self) -> Result<Vec<Guarantee>, Error> {
        match self {
            Self::Sqlite(store) => store.guarantees().await,
            Self::Postgres(store) => store.guarantees().await,
            Self::Memory(_) => Ok(Vec::new()),
        }
    }
}
