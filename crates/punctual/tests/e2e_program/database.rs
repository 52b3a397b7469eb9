//! Empty databases on the PostgreSQL that the environment names.

use tokio_postgres::NoTls;

/// The address of a new database, whose name begins so.
pub(crate) fn empty(prefix: &str) -> String {
    let server = std::env::var("PUNCTUAL_TEST_POSTGRES")
        .expect("a server: run this through `cargo xtask with-postgres -- cargo test …`, which starts one");
    let name = format!("{prefix}{}", std::process::id());
    tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
        let (client, connection) =
            tokio_postgres::connect(&server, NoTls).await.expect("the server is there");
        tokio::spawn(connection);
        let make = format!("CREATE DATABASE {name} TEMPLATE template0");
        client.batch_execute(&make).await.expect("it can be made");
    });
    let (base, query) = server
        .split_once('?')
        .map_or((server.as_str(), String::new()), |(base, query)| (base, format!("?{query}")));
    let base = base.rsplit_once('/').map_or(base, |(base, _)| base);
    format!("{base}/{name}{query}")
}
