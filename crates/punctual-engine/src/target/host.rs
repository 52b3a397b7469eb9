//! The host that programs run on: its users, and how many files may be open.

use std::ffi::CString;
use std::fmt;
use std::sync::OnceLock;

use nix::unistd::{Gid, Uid, User, getgrouplist};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::lanes::{POOL, RESERVE};

/// Programs that a serving node runs at once: as many as its launcher has places.
pub const PROGRAMS_MAX: usize = POOL + RESERVE;

/// Files that a program costs while it runs: a pipe to it, one from it, and a handle on itself.
const FILES_PER_PROGRAM: u64 = 3;

/// Files for everything else: databases, sockets, logs.
const FILES_RESERVED: u64 = 256;

/// The limit that programs inherit: what this process had before it raised its own.
static INHERITED: OnceLock<Option<u64>> = OnceLock::new();

/// A user of the host, as a program that runs as them needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) groups: Vec<u32>,
    pub(super) name: String,
    pub(super) home: String,
    pub(super) shell: String,
}

impl Identity {
    /// Finds a user by name or number, and checks that we may become them; none if we are them already.
    pub(super) fn find(user: &str) -> Result<Option<Self>, String> {
        let found = match user.parse() {
            Ok(number) => User::from_uid(Uid::from_raw(number)),
            Err(_) => User::from_name(user),
        };
        let found = found
            .map_err(|error| format!("cannot look up the user `{user}`: {error}"))?
            .ok_or_else(|| format!("there is no user `{user}` on this host"))?;
        let (own, wanted) = (Uid::effective(), found.uid);
        if own == wanted {
            return Ok(None);
        }
        if !own.is_root() {
            return Err(format!("cannot run as `{user}`: only a service that runs as root can do that"));
        }
        let name = CString::new(found.name.as_str()).map_err(|error| error.to_string())?;
        let groups = getgrouplist(&name, found.gid)
            .map_err(|error| format!("cannot look up the groups of `{user}`: {error}"))?;
        Ok(Some(Self {
            uid: wanted.as_raw(),
            gid: found.gid.as_raw(),
            groups: groups.into_iter().map(Gid::as_raw).collect(),
            name: found.name,
            home: found.dir.display().to_string(),
            shell: found.shell.display().to_string(),
        }))
    }
}

/// The host allows too few open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooFewFiles {
    /// How many may be open.
    pub allowed: u64,
    /// How many programs shall run at once.
    pub programs: usize,
}

impl TooFewFiles {
    /// How many files it takes.
    fn needed(programs: usize) -> u64 {
        FILES_RESERVED + FILES_PER_PROGRAM * programs as u64
    }
}

impl fmt::Display for TooFewFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, programs, allowed) = (Self::needed(self.programs), self.programs, self.allowed);
        write!(f, "{programs} programs at once take {needed} open files, and the system allows {allowed}")
    }
}

impl std::error::Error for TooFewFiles {}

/// Lets this process open as many files as the system allows it; programs inherit what it had before.
///
/// ```
/// punctual_engine::allow_open_files(10)?;
/// # Ok::<(), punctual_engine::TooFewFiles>(())
/// ```
///
/// # Errors
/// When that is not enough for so many programs at once.
pub fn allow_open_files(programs: usize) -> Result<(), TooFewFiles> {
    let before = getrlimit(Resource::Nofile);
    INHERITED.get_or_init(|| before.current);
    if before.current != before.maximum {
        let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
        // What the system refuses to give is judged below by what we have.
        let _ = setrlimit(Resource::Nofile, wanted);
    }
    // No limit at all is none.
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if allowed < TooFewFiles::needed(programs) { Err(TooFewFiles { allowed, programs }) } else { Ok(()) }
}

/// How many files a program may open unless its target says so, if we changed our own limit.
pub(super) fn inherited_open_files() -> Option<u64> {
    INHERITED.get().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_programs_than_files_are_refused_with_both_numbers() {
        let refused = allow_open_files(usize::MAX >> 8).unwrap_err().to_string();
        assert!(refused.contains("programs at once take"), "{refused}");
        assert_eq!(allow_open_files(1), Ok(()));
    }

    #[test]
    fn an_unknown_user_is_refused_by_name() {
        let refused = Identity::find("nobody-of-this-name").unwrap_err();
        assert_eq!(refused, "there is no user `nobody-of-this-name` on this host");
    }
}
