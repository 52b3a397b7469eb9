//! The states of a run and where it came from.

use core::fmt;

/// Makes an enum whose variants have one public name each, used in SQL, JSON and on the screen.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of a run's life.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The public name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl core::str::FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|one| one.name() == text)
                    .ok_or_else(|| UnknownName { what: stringify!($name), text: text.to_owned() })
            }
        }
    };
}

named! {
    /// Where a run is in its life.
    RunStatus {
        /// Planned and waiting for its instant.
        Scheduled = "scheduled",
        /// Admitted: its claims are taken, it will be launched.
        Enqueued = "enqueued",
        /// Launched and not yet answered.
        Running = "running",
        /// Ended well.
        Success = "success",
        /// Ended badly; the reason says how.
        Failed = "failed",
        /// Looked at in time and deliberately not run.
        Skipped = "skipped",
        /// Nobody could look at it in time.
        Missed = "missed",
    }
}

impl RunStatus {
    /// Whether nothing can happen to the run any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Skipped | Self::Missed)
    }
}

named! {
    /// What brought a run about.
    Origin {
        /// A planned tick of the schedule.
        Tick = "tick",
    }
}

/// A stored name that this version does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    text: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {} this version knows", self.text, self.what)
    }
}

impl core::error::Error for UnknownName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for status in RunStatus::ALL {
            assert_eq!(status.name().parse(), Ok(*status));
        }
        assert_eq!(
            "late".parse::<RunStatus>().map_err(|error| error.to_string()),
            Err("`late` is no RunStatus this version knows".to_owned())
        );
    }
}
