//! The way to the server: the URL, and how far its certificate is trusted.
//!
//! `sslmode` means what it means to libpq. The driver knows three of the modes; `verify-ca` and `verify-full` are
//! ours, made of rustls' verifier.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::Error;

/// Where systems keep the certificates they trust.
const PLATFORM_ROOTS: &[&str] =
    &["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// How far the server's certificate is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Whatever it is: the line is private, but who is at its end is not known.
    Anybody,
    /// Somebody vouches for it.
    Authority,
    /// Somebody vouches for it, and it is the server's own.
    Server,
}

/// A URL taken apart: what the driver understands, and the rest.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) config: tokio_postgres::Config,
    trust: Trust,
    roots: Option<PathBuf>,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value))),
                _ => rest.push(pair),
            }
        }
        let plain = if rest.is_empty() { base.to_owned() } else { format!("{base}?{}", rest.join("&")) };
        let mut config: tokio_postgres::Config = plain.parse().map_err(unusable)?;
        use tokio_postgres::config::SslMode;
        let (ssl_mode, trust) = match mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, Trust::Anybody),
            "prefer" | "allow" => (SslMode::Prefer, Trust::Anybody),
            // As libpq does: who names an authority wants it asked.
            "require" if roots.is_some() => (SslMode::Require, Trust::Authority),
            "require" => (SslMode::Require, Trust::Anybody),
            "verify-ca" => (SslMode::Require, Trust::Authority),
            "verify-full" => (SslMode::Require, Trust::Server),
            other => {
                return Err(Error::corrupt(format!(
                    "`{other}` is no sslmode; there are disable, prefer, require, verify-ca and verify-full"
                )));
            }
        };
        config.ssl_mode(ssl_mode);
        Ok(Self { config, trust, roots })
    }
}

fn unusable(source: tokio_postgres::Error) -> Error {
    Error::Database {
        doing: "reading the address of the database",
        source: Arc::new(source),
        is_transient: false,
    }
}

/// `%41` is `A`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let byte = code.and_then(|code| std::str::from_utf8(code).ok());
        match byte.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &tail[2..]).1,
            None => (bytes.push(*first), rest = tail).1,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Address {
    /// Where it is, without the password.
    pub(super) fn place(&self) -> String {
        // One port stands for all hosts, or each has its own.
        let ports = self.config.get_ports();
        let port = |place: usize| ports.get(place).or(ports.first()).copied().unwrap_or(5432);
        let hosts = self.config.get_hosts().iter().enumerate().map(|(place, host)| match host {
            tokio_postgres::config::Host::Tcp(name) => format!("{name}:{}", port(place)),
            #[cfg(unix)]
            tokio_postgres::config::Host::Unix(path) => format!("{}:{}", path.display(), port(place)),
        });
        let hosts: Vec<String> = hosts.collect();
        format!("postgres://{}/{}", hosts.join(","), self.config.get_dbname().unwrap_or_default())
    }

    /// What makes the encrypted line.
    pub(super) fn connector(&self) -> Result<tokio_postgres_rustls::MakeRustlsConnect, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(refused)?;
        let verifier: Arc<dyn ServerCertVerifier> = match self.trust {
            Trust::Anybody => Arc::new(Lenient { provider, authority: None }),
            Trust::Authority | Trust::Server => {
                let roots = Arc::new(self.trusted()?);
                let strict = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                    .build()
                    .map_err(refused)?;
                match self.trust {
                    Trust::Server => strict,
                    _ => Arc::new(Lenient { provider, authority: Some(strict) }),
                }
            }
        };
        let config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        Ok(tokio_postgres_rustls::MakeRustlsConnect::new(config))
    }

    fn trusted(&self) -> Result<RootCertStore, Error> {
        let platform = || PLATFORM_ROOTS.iter().map(PathBuf::from).find(|path| path.is_file());
        let path = self.roots.clone().filter(|path| path != Path::new("system")).or_else(platform);
        let path = path.ok_or_else(|| {
            Error::corrupt("there is no file of trusted certificates; name one with `sslrootcert`")
        })?;
        let mut roots = RootCertStore::empty();
        let certificates =
            CertificateDer::pem_file_iter(&path).map_err(|error| Error::open(path.clone(), error))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| Error::open(path.clone(), error))?;
            // A system's file may hold one that rustls cannot use; the others still count.
            roots.add(certificate).ok();
        }
        Ok(roots)
    }
}

fn refused(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Database { doing: "setting up TLS", source: Arc::new(source), is_transient: false }
}

/// Takes any certificate, or any that an authority vouches for whatever its name.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(authority) = &self.authority else {
            return Ok(ServerCertVerified::assertion());
        };
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let schemes = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, schemes)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let schemes = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, schemes)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::SslMode;

    #[test]
    fn the_mode_says_how_far_a_certificate_is_trusted() {
        let check = |query: &str, mode: SslMode, trust: Trust| {
            let address: Address = format!("postgres://u:p@db.example:6543/ledger{query}").parse().unwrap();
            assert_eq!((address.config.get_ssl_mode(), address.trust), (mode, trust), "{query}");
            assert_eq!(address.place(), "postgres://db.example:6543/ledger");
        };
        check("", SslMode::Prefer, Trust::Anybody);
        check("?sslmode=disable", SslMode::Disable, Trust::Anybody);
        check("?sslmode=require", SslMode::Require, Trust::Anybody);
        check("?sslmode=require&sslrootcert=ca.pem", SslMode::Require, Trust::Authority);
        check("?sslmode=verify-ca&connect_timeout=3", SslMode::Require, Trust::Authority);
        check("?application_name=x&sslmode=verify-full", SslMode::Require, Trust::Server);
        assert!("postgres://u@h/d?sslmode=sometimes".parse::<Address>().is_err());
    }

    #[test]
    fn several_hosts_are_shown_each_with_its_port() {
        let url = "postgres://u:p@one:5432,two:6543/ledger?target_session_attrs=read-write";
        let address: Address = url.parse().unwrap();
        assert_eq!(address.place(), "postgres://one:5432,two:6543/ledger");
    }

    #[test]
    fn a_path_may_hold_any_letter() {
        let address: Address = "postgres://h/d?sslrootcert=%2Fa%20b%2Fca.pem".parse().unwrap();
        assert_eq!(address.roots, Some(PathBuf::from("/a b/ca.pem")));
    }
}
