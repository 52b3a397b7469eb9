//! A proxy that web requests go through, without giving it a say in where they go.
//!
//! A proxy that is told a name looks the name up itself, and what it finds nobody has checked. So it is never told one:
//! names are looked up and checked here, as without a proxy, and the proxy is asked for a tunnel (`CONNECT`) to the very
//! address that was checked. What goes through the tunnel, TLS by the receiver's own name included, is not the proxy's
//! business. The client speaks to the [`Relay`], which does this, in SOCKS, on loopback and with a password of its own.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::dns::{Name, Resolve};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::resolve::{Guarded, check};

/// A tunnel that is not there by then is given up, whoever waits for it.
const TUNNEL_WITHIN: Duration = Duration::from_secs(60);

/// The pause after a connection that could not be taken.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// The head of a proxy's answer is at most this long.
const HEAD_BYTES_MAX: usize = 8 * 1024;

/// The user that the client of the relay is.
const USER: &str = "punctual";

/// An HTTP proxy that opens tunnels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    host: String,
    port: u16,
}

impl std::str::FromStr for Proxy {
    type Err = BadProxy;

    /// Reads `http://HOST:PORT`.
    fn from_str(text: &str) -> Result<Self, BadProxy> {
        let url = Url::parse(text.trim()).map_err(|_| BadProxy::NoAddress)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadProxy::Password);
        }
        let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let host = url.host_str().filter(|_| url.scheme() == "http" && is_bare);
        let host = host.ok_or(BadProxy::NoAddress)?.trim_start_matches('[').trim_end_matches(']');
        Ok(Self { host: host.to_owned(), port: url.port_or_known_default().unwrap_or(80) })
    }
}

/// Why a text names no proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadProxy {
    /// It is no address of one.
    NoAddress,
    /// It holds a name or a password, which everybody would see.
    Password,
}

impl fmt::Display for BadProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAddress => "it is no address of an HTTP proxy",
            Self::Password => "it holds a name or a password, which everybody would see",
        })
    }
}

impl std::error::Error for BadProxy {}

/// Takes connections of this process and opens tunnels for them; it ends when it is dropped.
pub(super) struct Relay {
    address: SocketAddr,
    secret: String,
    task: AbortHandle,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Relay {
    /// Listens on loopback.
    pub(super) async fn start(proxy: Proxy, names: Guarded) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, secret) = (listener.local_addr()?, uuid::Uuid::new_v4().simple().to_string());
        let way = Arc::new(Way { proxy, names, secret: secret.clone() });
        let task = tokio::spawn(way.serve(listener)).abort_handle();
        Ok(Self { address, secret, task })
    }

    /// How a client is told to use it: names are left to it.
    pub(super) fn url(&self) -> String {
        format!("socks5h://{USER}:{}@{}", self.secret, self.address)
    }
}

/// What every tunnel needs.
struct Way {
    proxy: Proxy,
    names: Guarded,
    secret: String,
}

impl Way {
    async fn serve(self: Arc<Self>, listener: TcpListener) {
        let mut tunnels = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    match accepted {
                        Ok((client, _)) => {
                            tunnels.spawn(Arc::clone(&self).tunnel(client));
                        }
                        // Too many files are open: those who wait get their turn when some are closed.
                        Err(problem) => {
                            warn!(%problem, "no connection can be taken on its way to the proxy");
                            tokio::time::sleep(ACCEPT_AGAIN).await;
                        }
                    }
                }
                Some(_) = tunnels.join_next() => {}
            }
        }
    }

    async fn tunnel(self: Arc<Self>, mut client: TcpStream) {
        let opened = timeout(TUNNEL_WITHIN, self.open(&mut client)).await;
        let mut server = match opened {
            Ok(Ok(server)) => server,
            Ok(Err(problem)) => return debug!(%problem, "no tunnel through the proxy"),
            Err(_) => return debug!("no tunnel through the proxy in time"),
        };
        // Whichever side closes ends it; what was sent by then has arrived.
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }

    /// Hears where the client wants to go, and leads there.
    async fn open(&self, client: &mut TcpStream) -> io::Result<TcpStream> {
        self.greet(client).await?;
        let wanted = Wanted::read(client).await?;
        match self.reach(&wanted).await {
            Ok(server) => {
                client.write_all(&answer(0)).await?;
                Ok(server)
            }
            Err(problem) => {
                let code = if problem.kind() == io::ErrorKind::PermissionDenied { 2 } else { 4 };
                client.write_all(&answer(code)).await?;
                Err(problem)
            }
        }
    }

    /// Lets only this process in.
    async fn greet(&self, client: &mut TcpStream) -> io::Result<()> {
        let [version, count] = read(client).await?;
        let mut methods = vec![0; usize::from(count)];
        client.read_exact(&mut methods).await?;
        if version != 5 || !methods.contains(&2) {
            client.write_all(&[5, 0xff]).await?;
            return Err(io::Error::other("the client does not say who it is"));
        }
        client.write_all(&[5, 2]).await?;
        let [_, length] = read(client).await?;
        let user = read_many(client, length).await?;
        let [length] = read(client).await?;
        let secret = read_many(client, length).await?;
        let is_known = user == USER.as_bytes()
            && aws_lc_rs::constant_time::verify_slices_are_equal(&secret, self.secret.as_bytes()).is_ok();
        client.write_all(&[1, u8::from(!is_known)]).await?;
        if is_known { Ok(()) } else { Err(io::Error::other("the client is somebody else")) }
    }

    /// A tunnel to an address that was checked.
    async fn reach(&self, wanted: &Wanted) -> io::Result<TcpStream> {
        let mut last = io::Error::other("the name has no address");
        for address in self.addresses(wanted).await? {
            match self.connect(SocketAddr::new(address, wanted.port)).await {
                Ok(server) => return Ok(server),
                Err(problem) => last = problem,
            }
        }
        Err(last)
    }

    async fn addresses(&self, wanted: &Wanted) -> io::Result<Vec<IpAddr>> {
        let denied =
            |error: &dyn fmt::Display| io::Error::new(io::ErrorKind::PermissionDenied, error.to_string());
        match &wanted.host {
            Host::Address(address) => {
                check(&self.names.reach, &address.to_string(), *address).map_err(|error| denied(&error))?;
                Ok(vec![*address])
            }
            Host::Name(name) => {
                let name: Name = name.parse().map_err(|_| io::Error::other("this is no name"))?;
                let found = self.names.resolve(name).await.map_err(|error| denied(&error))?;
                Ok(found.map(|address| address.ip()).collect())
            }
        }
    }

    async fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let mut proxy = TcpStream::connect((self.proxy.host.as_str(), self.proxy.port)).await?;
        proxy.set_nodelay(true)?;
        proxy.write_all(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await?;
        let mut head = Vec::new();
        // Byte by byte: what comes after the head belongs to whoever asked.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == HEAD_BYTES_MAX {
                return Err(io::Error::other("the proxy's answer has no end"));
            }
            head.push(proxy.read_u8().await?);
        }
        let line = String::from_utf8_lossy(&head);
        let line = line.lines().next().unwrap_or_default();
        match line.split(' ').nth(1) {
            Some(code) if code.starts_with('2') => Ok(proxy),
            _ => Err(io::Error::other(format!("the proxy answers `{line}`"))),
        }
    }
}

/// Where a client wants to go.
struct Wanted {
    host: Host,
    port: u16,
}

enum Host {
    Address(IpAddr),
    Name(String),
}

impl Wanted {
    async fn read(client: &mut TcpStream) -> io::Result<Self> {
        let [version, command, _, kind] = read(client).await?;
        if (version, command) != (5, 1) {
            return Err(io::Error::other("the client wants something else"));
        }
        let host = match kind {
            1 => Host::Address(Ipv4Addr::from(read::<4>(client).await?).into()),
            4 => Host::Address(Ipv6Addr::from(read::<16>(client).await?).into()),
            _ => {
                let [length] = read(client).await?;
                let name = read_many(client, length).await?;
                let name = String::from_utf8(name).map_err(|_| io::Error::other("this is no name"))?;
                name.parse().map_or(Host::Name(name), Host::Address)
            }
        };
        Ok(Self { host, port: u16::from_be_bytes(read(client).await?) })
    }
}

async fn read<const COUNT: usize>(client: &mut TcpStream) -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn read_many(client: &mut TcpStream, count: u8) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(count)];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// What a client is told: that there is a tunnel, or why not.
fn answer(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_host_and_a_port_and_nothing_else() {
        let check = |text: &str, expected: Result<(&str, u16), BadProxy>| {
            let read = text.parse::<Proxy>();
            assert_eq!(
                read.as_ref().map(|proxy| (&*proxy.host, proxy.port)),
                expected.as_ref().copied(),
                "{text}"
            );
        };
        check("http://proxy.example:3128", Ok(("proxy.example", 3128)));
        check("http://10.0.0.1/", Ok(("10.0.0.1", 80)));
        check("http://[::1]:8080", Ok(("::1", 8080)));
        check("https://proxy.example", Err(BadProxy::NoAddress));
        check("http://proxy.example/path", Err(BadProxy::NoAddress));
        check("proxy.example:3128", Err(BadProxy::NoAddress));
        check("http://ada:key@proxy.example", Err(BadProxy::Password));
    }
}
