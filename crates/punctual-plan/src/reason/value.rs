//! The values of a reason in their stored form: separated by spaces, free text last.

use core::net::IpAddr;

use jiff::Timestamp;

use crate::{OrgLimit, RunKey, RunStatus};

/// A value that a reason carries.
pub(super) trait Value: Sized {
    /// Its stored form; only the last value of a reason may hold spaces.
    fn store(&self) -> String;
    /// Reads it back.
    fn load(text: &str) -> Option<Self>;
    /// An example, for tests that go through all reasons.
    #[cfg(test)]
    fn sample() -> Self;
}

macro_rules! plain_values {
    ($($type:ty = $sample:expr,)+) => {
        $(impl Value for $type {
            fn store(&self) -> String {
                self.to_string()
            }

            fn load(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            #[cfg(test)]
            fn sample() -> Self {
                $sample
            }
        })+
    };
}

plain_values! {
    i32 = -1,
    u32 = 3,
    i64 = 3_600,
    u64 = 12,
    String = "two words".to_owned(),
    Timestamp = Timestamp::from_millisecond(1_772_359_200_500).expect("an instant"),
    IpAddr = "::ffff:10.0.0.1".parse().expect("an address"),
    RunStatus = RunStatus::Failed,
    OrgLimit = OrgLimit::InFlight,
}

impl Value for RunKey {
    fn store(&self) -> String {
        self.0.to_string()
    }

    fn load(text: &str) -> Option<Self> {
        text.parse().ok().map(RunKey)
    }

    #[cfg(test)]
    fn sample() -> Self {
        RunKey(7)
    }
}
