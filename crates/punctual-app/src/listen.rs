//! Where a server listens, as the setting says it.

use std::net::SocketAddr;

use crate::Failure;

/// The address that a setting names; none for `none`.
///
/// # Errors
/// When it is no address, or reaches beyond loopback.
///
/// ```
/// assert!(punctual_app::listen_address("127.0.0.1:7424")?.is_some());
/// assert!(punctual_app::listen_address("none")?.is_none());
/// assert!(punctual_app::listen_address("0.0.0.0:7424").is_err());
/// # Ok::<(), punctual_app::Failure>(())
/// ```
pub fn listen_address(text: &str) -> Result<Option<SocketAddr>, Failure> {
    if text == "none" {
        return Ok(None);
    }
    let address: SocketAddr = text.replace("localhost", "127.0.0.1").parse().map_err(|_| {
        Failure::invalid(
            format!("`{text}` is no address to listen on"),
            "write it as `127.0.0.1:7424`; `none` turns it off",
        )
    })?;
    match address.ip().is_loopback() {
        true => Ok(Some(address)),
        false => Err(Failure::invalid(
            format!("`{text}` can be reached from other hosts, which this version does not offer"),
            "listen on `127.0.0.1:7424`, and let a proxy with TLS stand before it",
        )),
    }
}
