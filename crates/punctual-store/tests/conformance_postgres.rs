//! Goal: the store in PostgreSQL passes the suite. Method: the suite, each behaviour in a database of its own on the
//! server that `PUNCTUAL_TEST_POSTGRES` names; `cargo xtask check` starts one.

mod ground;

use std::collections::HashMap;
use std::sync::Mutex;

use punctual_store::conformance::Backend;
use punctual_store::{Postgres, PostgresSettings, Store};

/// Databases of the server, each with its address.
#[derive(Default)]
struct Server {
    urls: Mutex<HashMap<String, String>>,
}

impl Backend for Server {
    type Store = Postgres;

    async fn open(&self) -> Postgres {
        let url = ground::migrated().await;
        let store = Postgres::open(PostgresSettings::new(&url)).await.expect("the schema is there");
        let place = store.status().await.expect("the store answers").place;
        self.urls.lock().expect("no test panics in here").insert(place, url);
        store
    }

    async fn second(&self, first: &Postgres) -> Postgres {
        let place = first.status().await.expect("the store answers").place;
        let url = self.urls.lock().expect("no test panics in here")[&place].clone();
        Postgres::open(PostgresSettings::new(&url)).await.expect("the same database is opened")
    }

    /// Each is a database to be made and hundreds of round trips: what the others are told in seconds takes minutes here.
    fn stories(&self) -> u64 {
        40
    }
}

punctual_store::conformance!(Server::default());
