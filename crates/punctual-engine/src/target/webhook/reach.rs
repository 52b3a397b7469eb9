//! Reach: which addresses requests may go to. Whatever is not public is refused unless it is allowed by name or range.
//!
//! An address that stands for another one (IPv4 inside IPv6, in all the ways there are) is judged as that one too.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ranges that are not public; the first that holds an address says what it is.
const RANGES: [(&str, Kind); 40] = [
    ("169.254.169.254/32", Kind::Closed("a metadata service")),
    ("169.254.170.2/32", Kind::Closed("a metadata service")),
    ("100.100.100.200/32", Kind::Closed("a metadata service")),
    ("192.0.0.192/32", Kind::Closed("a metadata service")),
    ("fd00:ec2::254/128", Kind::Closed("a metadata service")),
    ("fd20:ce::254/128", Kind::Closed("a metadata service")),
    ("0.0.0.0/8", Kind::Closed("an unspecified address")),
    ("10.0.0.0/8", Kind::Private("a private address")),
    ("100.64.0.0/10", Kind::Private("an address of a carrier's own network")),
    ("127.0.0.0/8", Kind::Private("a loopback address")),
    ("169.254.0.0/16", Kind::Private("a link-local address")),
    ("172.16.0.0/12", Kind::Private("a private address")),
    ("192.0.0.0/24", Kind::Closed("a reserved address")),
    ("192.0.2.0/24", Kind::Closed("an address for documentation")),
    ("192.88.99.0/24", Kind::Closed("a reserved address")),
    ("192.168.0.0/16", Kind::Private("a private address")),
    ("198.18.0.0/15", Kind::Closed("an address for measurements")),
    ("198.51.100.0/24", Kind::Closed("an address for documentation")),
    ("203.0.113.0/24", Kind::Closed("an address for documentation")),
    ("224.0.0.0/4", Kind::Closed("a multicast address")),
    ("255.255.255.255/32", Kind::Closed("the broadcast address")),
    ("240.0.0.0/4", Kind::Closed("a reserved address")),
    ("::/128", Kind::Closed("an unspecified address")),
    ("::1/128", Kind::Private("a loopback address")),
    ("::ffff:0:0/96", Kind::Standing),
    ("::/96", Kind::Standing),
    ("::ffff:0:0:0/96", Kind::Standing),
    ("64:ff9b::/96", Kind::Standing),
    ("64:ff9b:1::/48", Kind::Closed("an address of a network's own NAT64")),
    ("100::/64", Kind::Closed("an address that leads nowhere")),
    ("2001::/32", Kind::Closed("a Teredo address")),
    ("2001:db8::/32", Kind::Closed("an address for documentation")),
    ("2001::/23", Kind::Closed("a reserved address")),
    ("2002::/16", Kind::Standing),
    ("3fff::/20", Kind::Closed("an address for documentation")),
    ("5f00::/16", Kind::Closed("a reserved address")),
    ("fc00::/7", Kind::Private("a private address")),
    ("fe80::/10", Kind::Private("a link-local address")),
    ("fec0::/10", Kind::Private("a private address")),
    ("ff00::/8", Kind::Closed("a multicast address")),
];

/// What a range is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Somebody's own network: `yes` allows it.
    Private(&'static str),
    /// Nothing that a target could be; only a range that is named allows it.
    Closed(&'static str),
    /// It stands for an IPv4 address, which is judged.
    Standing,
}

/// Which addresses requests may go to beside public ones.
///
/// ```
/// use punctual_engine::Reach;
///
/// let none = Reach::default();
/// assert!(none.refuses("localhost", "127.0.0.1".parse()?).is_some());
/// assert!(none.refuses("example.com", "93.184.215.14".parse()?).is_none());
/// let some: Reach = "10.0.0.0/8, hooks.internal".parse()?;
/// assert!(some.refuses("a", "10.1.2.3".parse()?).is_none());
/// assert!(some.refuses("hooks.internal", "192.168.1.1".parse()?).is_none());
/// assert!(some.refuses("a", "192.168.1.1".parse()?).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether private networks are allowed as a whole.
    private: bool,
    ranges: Vec<Range>,
    hosts: Vec<String>,
}

/// A block of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    first: IpAddr,
    bits: u32,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (first, bits) = match text.split_once('/') {
            Some((first, bits)) => (first.parse::<IpAddr>().ok()?, Some(bits.parse::<u32>().ok()?)),
            None => (text.parse::<IpAddr>().ok()?, None),
        };
        let width = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(width);
        (bits <= width).then_some(Self { first, bits })
    }

    fn holds(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
                first.to_bits() & mask == address.to_bits() & mask
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
                first.to_bits() & mask == address.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl Reach {
    /// Why nothing may be sent to an address that a host has; nothing if it may.
    pub fn refuses(&self, host: &str, address: IpAddr) -> Option<&'static str> {
        let host = host.trim_end_matches('.');
        if self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host)) {
            return None;
        }
        let meant = stands_for(address);
        let is_listed = |address: IpAddr| self.ranges.iter().any(|range| range.holds(address));
        if is_listed(address) || meant.is_some_and(is_listed) {
            return None;
        }
        match kind(address)? {
            Kind::Private(_) if self.private => None,
            Kind::Private(what) | Kind::Closed(what) => Some(what),
            Kind::Standing => match meant.and_then(kind)? {
                Kind::Private(_) if self.private => None,
                Kind::Private(what) | Kind::Closed(what) => Some(what),
                Kind::Standing => None,
            },
        }
    }
}

/// What an address is, if it is not public.
fn kind(address: IpAddr) -> Option<Kind> {
    let holds = |text: &str| Range::parse(text).is_some_and(|range| range.holds(address));
    RANGES.iter().find(|(text, _)| holds(text)).map(|(_, kind)| *kind)
}

/// The IPv4 address that an IPv6 address stands for: mapped, translated or compatible, behind NAT64, or of 6to4.
fn stands_for(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else { return None };
    if kind(IpAddr::V6(address)) != Some(Kind::Standing) {
        return None;
    }
    let [first, second, third, ..] = address.segments();
    let embedded = match first {
        0x2002 => Ipv4Addr::from_bits(u32::from(second) << 16 | u32::from(third)),
        _ => Ipv4Addr::from_bits(low_bits(address)),
    };
    Some(IpAddr::V4(embedded))
}

fn low_bits(address: Ipv6Addr) -> u32 {
    let [.., seventh, eighth] = address.segments();
    u32::from(seventh) << 16 | u32::from(eighth)
}

impl std::str::FromStr for Reach {
    type Err = BadReach;

    /// Reads `no`, `yes`, or ranges and host names by commas.
    fn from_str(text: &str) -> Result<Self, BadReach> {
        let mut reach = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "no" | "none" | "false" => {}
                "yes" | "all" | "true" => reach.private = true,
                _ => match Range::parse(word) {
                    Some(range) => reach.ranges.push(range),
                    None if is_host(word) => reach.hosts.push(word.trim_end_matches('.').to_owned()),
                    None => return Err(BadReach(word.to_owned())),
                },
            }
        }
        Ok(reach)
    }
}

fn is_host(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    word.chars().all(is_letter) && word.chars().any(|letter| letter.is_ascii_alphabetic())
}

/// A word that is no range of addresses and no name of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadReach(String);

impl fmt::Display for BadReach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no range of addresses and no name of a host", self.0)
    }
}

impl std::error::Error for BadReach {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reach: &str, address: &str, expected: Option<&str>) {
        let reach: Reach = reach.parse().expect("a reach");
        let address: IpAddr = address.parse().expect("an address");
        assert_eq!(reach.refuses("host.example", address), expected, "{address} with {reach:?}");
    }

    #[test]
    fn what_is_not_public_is_refused_in_all_its_forms() {
        for public in ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
            check("no", public, None);
        }
        for (address, what) in [
            ("127.0.0.1", "a loopback address"),
            ("127.255.255.254", "a loopback address"),
            ("::1", "a loopback address"),
            ("::ffff:127.0.0.1", "a loopback address"),
            ("::127.0.0.1", "a loopback address"),
            ("::ffff:0:127.0.0.1", "a loopback address"),
            ("64:ff9b::7f00:1", "a loopback address"),
            ("2002:7f00:1::", "a loopback address"),
            ("0.0.0.0", "an unspecified address"),
            ("0.1.2.3", "an unspecified address"),
            ("::", "an unspecified address"),
            ("10.0.0.1", "a private address"),
            ("172.16.0.1", "a private address"),
            ("172.31.255.255", "a private address"),
            ("192.168.1.1", "a private address"),
            ("::ffff:192.168.1.1", "a private address"),
            ("fd12::1", "a private address"),
            ("fec0::1", "a private address"),
            ("100.64.0.1", "an address of a carrier's own network"),
            ("169.254.1.1", "a link-local address"),
            ("fe80::1", "a link-local address"),
            ("169.254.169.254", "a metadata service"),
            ("::ffff:169.254.169.254", "a metadata service"),
            ("64:ff9b::a9fe:a9fe", "a metadata service"),
            ("fd00:ec2::254", "a metadata service"),
            ("100.100.100.200", "a metadata service"),
            ("224.0.0.1", "a multicast address"),
            ("ff02::1", "a multicast address"),
            ("255.255.255.255", "the broadcast address"),
            ("240.0.0.1", "a reserved address"),
            ("2001::1", "a Teredo address"),
            ("64:ff9b:1::1", "an address of a network's own NAT64"),
            ("198.51.100.7", "an address for documentation"),
        ] {
            check("no", address, Some(what));
        }
        check("no", "172.32.0.1", None);
        check("no", "100.128.0.1", None);
    }

    #[test]
    fn private_networks_are_allowed_as_a_whole_and_the_rest_by_name() {
        for address in ["127.0.0.1", "::1", "10.1.1.1", "fd12::1", "::ffff:10.0.0.1", "fe80::1"] {
            check("yes", address, None);
        }
        check("yes", "169.254.169.254", Some("a metadata service"));
        check("yes", "224.0.0.1", Some("a multicast address"));
        check("169.254.169.254", "169.254.169.254", None);
        check("169.254.169.254", "::ffff:169.254.169.254", None);
        check("127.0.0.0/8", "127.3.2.1", None);
        check("127.0.0.0/8", "10.0.0.1", Some("a private address"));
        check("::/0", "fe80::1", None);
        check("0.0.0.0/0", "10.0.0.1", None);
        check("host.example", "10.0.0.1", None);
        check("HOST.example., 10.0.0.0/8", "192.168.0.1", None);
        check("other.example", "10.0.0.1", Some("a private address"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for word in ["10.0.0.0/33", "10.0.0/8", "fe80::/129", "a b", "http://x", "*"] {
            let refused = word.parse::<Reach>().expect_err(word);
            assert_eq!(
                refused.to_string(),
                format!("`{word}` is no range of addresses and no name of a host")
            );
        }
    }
}
