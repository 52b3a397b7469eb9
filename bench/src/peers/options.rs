//! Which peers, and what is done to them.

use std::path::PathBuf;

use crate::Failure;
use crate::options::{Kind, count, kind};

use super::peer::{Folders, PEERS, Peer};

const HINT: &str = "peers --installed FOLDER --drivers FOLDER [--peers NAME,…|none] [--parts herd,steady,crash,outage] \
    [--databases sqlite,postgres|none] [--repeats 3] [--seconds 20] [--out FILE]";

/// A story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Herd,
    Steady,
    Crash,
    Outage,
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Herd => "herd",
            Self::Steady => "steady",
            Self::Crash => "crash",
            Self::Outage => "outage",
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) folders: Folders,
    names: Vec<String>,
    pub(super) parts: Vec<Part>,
    /// Ours that stand beside them.
    pub(super) databases: Vec<Kind>,
    /// How often each herd is repeated.
    pub(super) repeats: u32,
    /// How long the steady seconds go on.
    pub(super) seconds: u32,
    pub(super) out: PathBuf,
}

impl Options {
    pub(super) fn read(words: &[String]) -> Result<Self, Failure> {
        let mut options = Self {
            folders: Folders::default(),
            names: PEERS.iter().map(|peer| peer.name.to_owned()).collect(),
            parts: vec![Part::Herd, Part::Steady, Part::Crash, Part::Outage],
            databases: vec![Kind::Sqlite, Kind::Postgres],
            repeats: 3,
            seconds: 20,
            out: PathBuf::from("target/bench/peers.json"),
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match (name.as_str(), value.as_str()) {
                ("--installed", _) => options.folders.installed = PathBuf::from(value),
                ("--drivers", _) => options.folders.drivers = PathBuf::from(value),
                ("--peers", "none") => options.names.clear(),
                ("--peers", _) => options.names = value.split(',').map(known).collect::<Result<_, _>>()?,
                ("--parts", _) => options.parts = value.split(',').map(part).collect::<Result<_, _>>()?,
                ("--databases", "none") => options.databases.clear(),
                ("--databases", _) => {
                    options.databases = value.split(',').map(kind).collect::<Result<_, _>>()?;
                }
                ("--repeats", _) => options.repeats = count(value)?,
                ("--seconds", _) => options.seconds = count(value)?,
                ("--out", _) => options.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(options)
    }

    pub(super) fn peers(&self) -> impl Iterator<Item = &'static Peer> {
        PEERS.iter().filter(|peer| self.names.iter().any(|name| name == peer.name))
    }

    /// Why a peer is not there, if it is not.
    pub(super) fn absent(&self, peer: &Peer) -> Option<String> {
        peer.absent(&self.folders.installed)
    }

    /// The herds for which ours are wanted as well: whatever the peers are asked to bear.
    pub(super) fn herds(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.peers().map(|peer| peer.herd).collect();
        sizes.push(10_000);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

fn known(name: &str) -> Result<String, Failure> {
    match PEERS.iter().find(|peer| peer.name == name) {
        Some(peer) => Ok(peer.name.to_owned()),
        None => {
            let all: Vec<&str> = PEERS.iter().map(|peer| peer.name).collect();
            Err(format!("there is no peer `{name}`; there are {}", all.join(", ")).into())
        }
    }
}

fn part(name: &str) -> Result<Part, Failure> {
    match name {
        "herd" => Ok(Part::Herd),
        "steady" => Ok(Part::Steady),
        "crash" => Ok(Part::Crash),
        "outage" => Ok(Part::Outage),
        _ => Err(format!("there is no part `{name}`; {HINT}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_chosen_by_name() {
        let read = |words: &str| Options::read(&words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let some = read("--peers aps3,bullmq --parts crash").expect("valid");
        assert_eq!(some.peers().map(|peer| peer.name).collect::<Vec<_>>(), ["bullmq", "aps3"]);
        assert_eq!((some.parts.clone(), some.herds()), (vec![Part::Crash], vec![1_000, 10_000]));
        assert!(read("--peers quartz").is_err() && read("--parts nap").is_err());
        assert_eq!(read("--peers none").expect("valid").peers().count(), 0);
    }
}
