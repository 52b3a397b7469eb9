//! Encrypted receivers: who they are is checked, and who we are is shown.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use punctual_plan::Webhook;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::server::{Reply, Server};
use super::stage::{Stage, end, hook};

/// Certificates of one test: `ca` signed `server` for `localhost` and `client`; `other` signed nothing.
struct Papers(PathBuf);

impl Papers {
    fn new(stage: &Stage) -> Self {
        let papers = Self(stage.folder.path().to_owned());
        let key = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
        for authority in ["ca", "other"] {
            papers.openssl(&format!(
                "{key} -x509 -keyout {authority}.key -out {authority}.pem -subj /CN={authority} \
                 -addext basicConstraints=critical,CA:TRUE"
            ));
        }
        for (name, use_of) in [("server", "serverAuth"), ("client", "clientAuth")] {
            papers.openssl(&format!("{key} -keyout {name}.key -out {name}.csr -subj /CN={name}"));
            let names = format!(
                "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage={use_of}\n"
            );
            std::fs::write(papers.0.join("names"), names).expect("a file");
            papers.openssl(&format!(
                "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out {name}.pem"
            ));
        }
        papers
    }

    fn openssl(&self, line: &str) {
        let made = Command::new("openssl").args(line.split_whitespace()).current_dir(&self.0).output();
        let made = made.expect("openssl is there: the package `openssl` brings it");
        assert!(made.status.success(), "{line}: {}", String::from_utf8_lossy(&made.stderr));
    }

    fn reference(&self, name: &str) -> Option<String> {
        Some(format!("${{file:{}}}", self.0.join(name).display()))
    }

    fn certificates(&self, name: &str) -> Vec<CertificateDer<'static>> {
        let found = CertificateDer::pem_file_iter(self.0.join(name)).expect("a file");
        found.map(|one| one.expect("a certificate")).collect()
    }

    /// What the server shows, and whom it lets in.
    fn acceptor(&self) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.certificates("ca.pem"));
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_client_cert_verifier(verifier.build().expect("a verifier"))
            .with_single_cert(
                self.certificates("server.pem"),
                PrivateKeyDer::from_pem_file(self.0.join("server.key")).expect("a key"),
            );
        TlsAcceptor::from(Arc::new(config.expect("a configuration")))
    }
}

/// A server that lets in only those who show a certificate.
async fn strict(papers: &Papers) -> Server {
    let (listener, server) = Server::bind(|_| Reply::ok()).await;
    let (acceptor, shared) = (papers.acceptor(), server.clone());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, shared) = (acceptor.clone(), shared.clone());
            tokio::spawn(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    shared.serve(stream).await;
                }
            });
        }
    });
    server
}

#[tokio::test]
async fn a_receiver_is_believed_by_its_authority_and_lets_us_in_by_ours() {
    let stage = Stage::new();
    let papers = Papers::new(&stage);
    let server = strict(&papers).await;
    let url = format!("https://127.0.0.1:{}/a", server.address.port());
    let whole = Webhook {
        ca_certificate: papers.reference("ca.pem"),
        client_certificate: papers.reference("client.pem"),
        client_key: papers.reference("client.key"),
        ..hook(&url)
    };
    let serving = stage.serve().await;
    stage.once("whole", whole.clone()).await;
    assert_eq!(end(&stage.ended("whole", 1).await[0]), "success");
    for (name, webhook, is_seen) in [
        ("stranger", Webhook { ca_certificate: None, ..whole.clone() }, "UnknownIssuer"),
        (
            "impostor",
            Webhook { ca_certificate: papers.reference("other.pem"), ..whole.clone() },
            "UnknownIssuer",
        ),
        (
            "nobody",
            Webhook { client_certificate: None, client_key: None, ..whole.clone() },
            "CertificateRequired",
        ),
        (
            "wrong paper",
            Webhook { client_key: papers.reference("ca.pem"), ..whole },
            "`client_certificate` and `client_key` cannot be read",
        ),
    ] {
        stage.once(name, webhook).await;
        let said = end(&stage.ended(name, 1).await[0]);
        assert!(said.starts_with("failed ") && said.contains(is_seen), "{name}: {said}");
    }
    serving.stop().await;
    assert_eq!(server.seen("/a").len(), 1);
}
