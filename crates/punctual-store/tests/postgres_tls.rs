//! TLS: a server whose certificate is for another name, or from another authority, is refused where that was asked.
//!
//! Keys and certificates are made anew for each run, by the `openssl` that the server's package brings on Debian.

mod ground;

use std::path::PathBuf;
use std::process::Command;

use ground::{connect, database};
use punctual_store::{Error, Postgres, PostgresSettings, Store};

/// A folder with the certificates of one run: `ca.pem` signed `server.pem` for `db.example`, `other.pem` nothing.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Folder {
    fn with_certificates() -> Self {
        let folder = std::env::temp_dir().join(format!("punctual-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let folder = Self(folder);
        let key = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        for authority in ["ca", "other"] {
            folder.openssl(&format!(
                "{key} -x509 -keyout {authority}.key -out {authority}.pem -subj /CN={authority} \
                 -addext basicConstraints=critical,CA:TRUE"
            ));
        }
        folder.openssl(&format!("{key} -keyout server.key -out server.csr -subj /CN=db.example"));
        std::fs::write(folder.0.join("names"), "subjectAltName=DNS:db.example\nbasicConstraints=CA:FALSE\n")
            .expect("a file can be written");
        folder.openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names \
             -out server.pem",
        );
        folder
    }

    fn openssl(&self, line: &str) {
        let made = Command::new("openssl").args(line.split_whitespace()).current_dir(&self.0).output();
        let made = made.expect("openssl is there: the package `openssl` brings it");
        assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("openssl made it")
    }
}

/// Gives the test server a certificate for `db.example`.
async fn encrypt(url: &str, folder: &Folder) {
    let client = connect(url).await;
    let make = "SELECT lo_from_bytea(0, convert_to($1::text, 'UTF8'))";
    let put = "SELECT lo_export($1::oid, current_setting('data_directory') || '/' || $2::text)";
    for (name, text) in
        [("punctual.key", folder.text("server.key")), ("punctual.pem", folder.text("server.pem"))]
    {
        let file: u32 = client.query_one(make, &[&text]).await.expect("a file").get(0);
        client.query(put, &[&file, &name]).await.expect("the server's owner may write its files");
    }
    for setting in [
        "COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; chmod 600 punctual.key'",
        "ALTER SYSTEM SET ssl_cert_file = 'punctual.pem'",
        "ALTER SYSTEM SET ssl_key_file = 'punctual.key'",
        "ALTER SYSTEM SET ssl = on",
        "SELECT pg_reload_conf()",
    ] {
        client.batch_execute(setting).await.expect(setting);
    }
    // The setting is in force when a new connection says so.
    while connect(url).await.query_one("SHOW ssl", &[]).await.expect("it can be asked").get::<_, String>(0)
        != "on"
    {}
}

#[tokio::test]
async fn a_certificate_is_trusted_as_far_as_was_asked() {
    let url = database().await;
    let made = Folder::with_certificates();
    encrypt(&url, &made).await;
    let folder = made.0.display();
    let open = async |query: String| {
        let mark = if url.contains('?') { '&' } else { '?' };
        Postgres::open(PostgresSettings::new(format!("{url}{mark}{query}"))).await
    };
    for query in
        ["sslmode=disable", "sslmode=require", &format!("sslmode=verify-ca&sslrootcert={folder}/ca.pem")]
    {
        let store = open(query.to_owned()).await.unwrap_or_else(|error| panic!("{query}: {error}"));
        store.now().await.expect("it answers");
    }
    for query in [
        format!("sslmode=verify-full&sslrootcert={folder}/ca.pem"),
        format!("sslmode=verify-ca&sslrootcert={folder}/other.pem"),
        format!("sslmode=verify-full&sslrootcert={folder}/other.pem"),
    ] {
        let error = open(query.clone()).await.err().unwrap_or_else(|| panic!("{query} was let through"));
        assert!(
            matches!(error, Error::Database { .. }) && error.to_string().contains("certificate"),
            "{query}: {error}"
        );
        assert!(!error.is_transient(), "{query}: {error}");
    }
}
