//! Fail points: places at which a process can be told to kill itself, to see what is left of it.
//!
//! The steps of a tick's life say where they are with [`pass`]. With the feature `fail-points`, which no program for
//! people has, `PUNCTUAL_FAIL_POINT=NAME:N` in the environment lets the process send itself SIGKILL when it passes the
//! point of that name for the N-th time; without the feature nothing is compiled. `cargo xtask faults serve` goes
//! through all of them.

mod list;

pub use list::{FailPoint, Place};

/// Says that a point is passed.
///
/// ```
/// use punctual_store::fail_point::{FailPoint, pass};
///
/// // Nobody has armed it: nothing happens.
/// pass(FailPoint::StoreBeforeCommit);
/// ```
#[cfg(not(feature = "fail-points"))]
#[inline(always)]
pub const fn pass(_: FailPoint) {}

#[cfg(feature = "fail-points")]
pub use armed::pass;

#[cfg(feature = "fail-points")]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::FailPoint;

    /// What the environment asks for.
    const VARIABLE: &str = "PUNCTUAL_FAIL_POINT";

    /// A point at which this process ends.
    struct Armed {
        point: FailPoint,
        /// How often it is still to be passed.
        left: AtomicU64,
    }

    static ARMED: LazyLock<Option<Armed>> = LazyLock::new(|| {
        let asked = std::env::var(VARIABLE).ok()?;
        Some(read(&asked).unwrap_or_else(|| refuse(&asked)))
    });

    /// Says that a point is passed; the process ends here if it was told to.
    pub fn pass(point: FailPoint) {
        let Some(armed) = ARMED.as_ref().filter(|armed| armed.point == point) else { return };
        if armed.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            // Nothing of the process runs after this; should the signal take a moment, this thread does nothing meanwhile.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            loop {
                std::thread::park();
            }
        }
    }

    fn read(asked: &str) -> Option<Armed> {
        let (name, times) = asked.split_once(':')?;
        let point = FailPoint::ALL.iter().find(|point| point.name() == name)?;
        let left = times.parse().ok().filter(|times| *times > 0)?;
        Some(Armed { point: *point, left: AtomicU64::new(left) })
    }

    #[allow(clippy::print_stderr, reason = "only builds that kill themselves have this")]
    fn refuse(asked: &str) -> ! {
        eprintln!(
            "error: there is no fail point `{asked}`\nhint: {VARIABLE} is a name and how often: `joined:1`"
        );
        std::process::exit(2)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_point_is_armed_by_its_name_and_how_often_it_is_passed() {
            let check = |asked: &str, expected: Option<(FailPoint, u64)>| {
                let read = read(asked).map(|armed| (armed.point, armed.left.into_inner()));
                assert_eq!(read, expected, "{asked}");
            };
            check("joined:3", Some((FailPoint::Joined, 3)));
            for wrong in ["joined", "joined:0", "joined:x", "nowhere:1", ""] {
                check(wrong, None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_name_of_its_own() {
        let mut names: Vec<&str> = FailPoint::ALL.iter().map(|point| point.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FailPoint::ALL.len());
    }
}
