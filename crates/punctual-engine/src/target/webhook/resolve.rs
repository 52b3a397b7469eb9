//! Names become addresses once, and exactly the addresses that were checked are connected to: a name that leads
//! elsewhere the next time cannot slip through in between.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Reach;

/// The host's own name service.
pub(super) struct HostNames;

impl Resolve for HostNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// A name service of which only those answers count that are within reach.
#[derive(Clone)]
pub(super) struct Guarded {
    pub(super) names: Arc<dyn Resolve>,
    pub(super) reach: Arc<Reach>,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, host) = (Arc::clone(&self.reach), name.as_str().to_owned());
        let found = self.names.resolve(name);
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = found.await?.collect();
            // One address out of reach is enough: which of them is taken would be left to chance.
            for address in &addresses {
                check(&reach, &host, address.ip())?;
            }
            if addresses.is_empty() {
                return Err(format!("`{host}` has no address").into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Checks an address that is written in a URL itself: no name service is asked about it.
pub(super) fn check_literal(reach: &Reach, url: &Url) -> Result<(), OutOfReach> {
    let host = url.host_str().unwrap_or_default();
    // The parser has turned every way to write an address into the usual one.
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(address) => check(reach, host, address),
        Err(_) => Ok(()),
    }
}

/// Checks an address that a host has.
pub(super) fn check(reach: &Reach, host: &str, address: IpAddr) -> Result<(), OutOfReach> {
    match reach.refuses(host, address) {
        Some(what) => Err(OutOfReach { address, what }),
        None => Ok(()),
    }
}

/// An address to which nothing may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutOfReach {
    pub(super) address: IpAddr,
    pub(super) what: &'static str,
}

impl fmt::Display for OutOfReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.address, self.what)
    }
}

impl std::error::Error for OutOfReach {}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A name service that answers differently each time, as one under an attacker's control would.
    struct Turning(Mutex<Vec<Vec<&'static str>>>);

    impl Resolve for Turning {
        fn resolve(&self, _: Name) -> Resolving {
            let answer = self.0.lock().unwrap().remove(0);
            let addresses: Vec<SocketAddr> =
                answer.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect();
            Box::pin(async move { Ok(Box::new(addresses.into_iter()) as Addrs) })
        }
    }

    #[tokio::test]
    async fn every_answer_of_a_name_service_is_checked_and_used_as_it_was() {
        let answers = vec![
            vec!["1.1.1.1"],
            vec!["127.0.0.1"],
            vec!["1.1.1.1", "::ffff:10.0.0.1"],
            vec![],
            vec!["2606::1"],
        ];
        let names = Arc::new(Turning(Mutex::new(answers)));
        let guarded = Guarded { names, reach: Arc::default() };
        let ask = async || {
            let found = guarded.resolve("turning.example".parse().unwrap()).await;
            found
                .map(|found| found.map(|address| address.ip().to_string()).collect::<Vec<_>>())
                .map_err(|error| error.to_string())
        };
        assert_eq!(ask().await, Ok(vec!["1.1.1.1".to_owned()]));
        assert_eq!(ask().await, Err("127.0.0.1 is a loopback address".to_owned()));
        assert_eq!(ask().await, Err("::ffff:10.0.0.1 is a private address".to_owned()));
        assert_eq!(ask().await, Err("`turning.example` has no address".to_owned()));
        assert_eq!(ask().await, Ok(vec!["2606::1".to_owned()]));
    }

    #[test]
    fn an_address_in_a_url_is_checked_however_it_is_written() {
        let refused = |url: &str| check_literal(&Reach::default(), &Url::parse(url).unwrap()).is_err();
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "0177.0.0.1",
            "0",
            "127.0.0.1.",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[0:0:0:0:0:ffff:7f00:0001]",
            "[::7f00:1]",
            "[64:ff9b::127.0.0.1]",
            "169.254.169.254",
            "0xa9fea9fe",
            "%31%32%37.0.0.1",
            "①②⑦.0.0.1",
            "user@10.0.0.1",
            "[fd00::1]",
            "[fe80::1]",
        ] {
            assert!(refused(&format!("http://{host}/x")), "{host}");
        }
        for host in ["1.1.1.1", "[2606:4700::1111]", "example.com", "127.0.0.1.example.com"] {
            assert!(!refused(&format!("http://{host}/x")), "{host}");
        }
    }
}
