//! Goal: the store in one file passes the suite. Method: the suite, each behaviour on files of its own.

use std::path::PathBuf;
use std::sync::Mutex;

use punctual_store::conformance::Backend;
use punctual_store::{Access, Sqlite, Store};
use tempfile::TempDir;

/// Files that live as long as the test.
#[derive(Default)]
struct Files {
    folders: Mutex<Vec<TempDir>>,
}

impl Files {
    fn path(&self) -> PathBuf {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("ledger.db");
        self.folders.lock().expect("no test panics in here").push(folder);
        path
    }
}

impl Backend for Files {
    type Store = Sqlite;

    async fn open(&self) -> Sqlite {
        Sqlite::open(&self.path(), Access::Serve).expect("a new file is opened")
    }

    async fn second(&self, first: &Sqlite) -> Sqlite {
        let place = first.status().await.expect("the store answers").place;
        Sqlite::open(place.as_ref(), Access::Visit).expect("the same file is opened")
    }

    /// Every step of a story is on disk before the next: a third of what memory is told takes longer than all of that.
    fn stories(&self) -> u64 {
        100
    }
}

punctual_store::conformance!(Files::default());
