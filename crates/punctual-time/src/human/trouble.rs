//! Why a text was refused: the word, the reason, and what to write instead.

use std::ops::Range;

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// A word that has no meaning here.
    NotUnderstood,
    /// Understood, and impossible.
    Contradiction,
    /// Understood, with more than one meaning and no safe guess.
    Ambiguous,
    /// Understood and possible, but not as one schedule.
    TwoSchedules,
    /// A zone that the tz database does not have.
    UnknownZone,
    /// Nothing to read.
    Empty,
    /// More text than the limit.
    TooLong,
}

impl Code {
    /// The stable name that programs match on.
    pub(super) fn name(self) -> &'static str {
        match self {
            Code::NotUnderstood => "not_understood",
            Code::Contradiction => "contradiction",
            Code::Ambiguous => "ambiguous",
            Code::TwoSchedules => "two_schedules",
            Code::UnknownZone => "unknown_zone",
            Code::Empty => "empty",
            Code::TooLong => "too_long",
        }
    }
}

/// A refusal on its way out.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub(super) code: Code,
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Trouble {
    pub(super) fn new(code: Code, span: Range<usize>, message: impl Into<String>) -> Self {
        Trouble { code, span, message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
