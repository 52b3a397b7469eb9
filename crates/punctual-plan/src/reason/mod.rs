//! Why a tick did not run, or how a run ended: a closed list with one English sentence each.
//!
//! The sentence carries the deciding values; the compiler refuses one that leaves a value out. CLI, API,
//! dashboard and audit all show it from here. The list itself is in `list.rs`.

mod list;
mod value;

use core::fmt;

pub use list::Reason;
use punctual_time::Suppression;

/// One entry of the list of reasons, as the documentation shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// The stable name.
    pub code: &'static str,
    /// The sentence, with its values by name in braces.
    pub sentence: &'static str,
}

impl Reason {
    /// Reads a reason as it was stored.
    ///
    /// ```
    /// use punctual_plan::{Reason, RunKey};
    ///
    /// let reason = Reason::Overlap { run: RunKey(7) };
    /// assert_eq!(Reason::from_stored(reason.code(), &reason.detail()), Ok(reason));
    /// ```
    ///
    /// # Errors
    /// When a newer version wrote a reason that this one does not know.
    pub fn from_stored(code: &str, detail: &str) -> Result<Self, ReasonError> {
        Self::read(code, detail)
            .ok_or_else(|| ReasonError { code: code.to_owned(), detail: detail.to_owned() })
    }
}

impl From<Suppression> for Reason {
    fn from(suppression: Suppression) -> Self {
        match suppression {
            Suppression::OutsideWindow(range) => Self::OutsideWindow { range: range.to_string() },
            Suppression::Weekday(day) => {
                let said = Suppression::Weekday(day).to_string();
                Self::NotOn { day: said.rsplit(' ').next().unwrap_or_default().to_owned() }
            }
            Suppression::Calendar(name) => Self::Calendar { name },
            Suppression::QuietHours(name) => Self::QuietHours { name },
        }
    }
}

/// A stored reason that this version cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonError {
    code: String,
    detail: String,
}

impl fmt::Display for ReasonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` with `{}` is no reason this version knows", self.code, self.detail)
    }
}

impl core::error::Error for ReasonError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_reads_back_with_its_values() {
        for reason in Reason::samples() {
            assert_eq!(Reason::from_stored(reason.code(), &reason.detail()), Ok(reason));
        }
        assert!(Reason::from_stored("overlap", "not a number").is_err());
        assert!(Reason::from_stored("bad luck", "").is_err());
    }

    #[test]
    fn every_reason_has_a_name_and_a_sentence_of_its_own() {
        let mut codes: Vec<&str> = Reason::LIST.iter().map(|one| one.code).collect();
        let mut sentences: Vec<&str> = Reason::LIST.iter().map(|one| one.sentence).collect();
        codes.sort_unstable();
        codes.dedup();
        sentences.sort_unstable();
        sentences.dedup();
        assert_eq!((codes.len(), sentences.len()), (Reason::LIST.len(), Reason::LIST.len()));
    }

    #[test]
    fn the_sentence_names_what_decided() {
        let said: Vec<String> = Reason::samples().iter().map(ToString::to_string).collect();
        assert!(said.contains(&"run-7 was still in flight".to_owned()), "{said:#?}");
        assert!(said.iter().all(|sentence| !sentence.contains(['{', '}'])), "{said:#?}");
    }

    #[test]
    fn a_window_becomes_the_reason_that_names_it() {
        let not_on = Reason::from(Suppression::Weekday(6));
        assert_eq!(
            (not_on.code(), not_on.to_string()),
            ("not_on", "the schedule never runs on saturday".into())
        );
        let range = "08:00-18:00".parse().unwrap();
        assert_eq!(Reason::from(Suppression::OutsideWindow(range)).code(), "outside_window");
    }
}
