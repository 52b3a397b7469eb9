//! What a person wrote and we refuse: the reason, the place, and the text to write instead.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Why a text was refused, where, and what to write instead.
///
/// The message is one lower-case line without a full stop that names the token, the field and the column.
///
/// ```
/// use punctual_time::{Cron, Dialect};
///
/// let error = Cron::parse("*/15 * * * *", Dialect::Posix).unwrap_err();
/// assert_eq!(error.to_string(), "`*/15` is not POSIX cron (minute field, column 1)");
/// assert_eq!(error.hint(), Some("write `0,15,30,45`, or choose the dialect `standard`"));
/// assert_eq!(error.fix(), Some("0,15,30,45"));
/// assert_eq!(error.span(), 0..4);
/// assert_eq!(error.code(), "not_posix");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Refusal>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal {
    code: &'static str,
    message: String,
    hint: Option<Cow<'static, str>>,
    fix: Option<String>,
    span: Range<usize>,
}

impl Error {
    #[cold]
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Error(Box::new(Refusal { code, message: message.into(), hint: None, fix: None, span: 0..0 }))
    }

    pub(crate) fn at(mut self, span: Range<usize>) -> Self {
        self.0.span = span;
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        let fix = fix.into();
        if self.0.hint.is_none() {
            self.0.hint = Some(format!("write `{fix}`").into());
        }
        self.0.fix = Some(fix);
        self
    }

    /// What to do about it, for the line under the message.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let error = Cron::parse("0 22-2 * * *", Dialect::Standard).unwrap_err();
    /// assert_eq!(error.hint(), Some("write `22-23,0-2`"));
    /// ```
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The text that, put in place of [`span`](Error::span), mends the input; absent where a choice is needed.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let error = Cron::parse("@hourly", Dialect::Posix).unwrap_err();
    /// assert_eq!(error.fix(), Some("0 * * * *"));
    /// ```
    pub fn fix(&self) -> Option<&str> {
        self.0.fix.as_deref()
    }

    /// The bytes of the input that the message is about.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let error = Cron::parse("0 25 * * *", Dialect::Standard).unwrap_err();
    /// assert_eq!(error.span(), 2..4);
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.0.span.clone()
    }

    /// A stable name for programs to match on.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect};
    /// let error = Cron::parse("0 0 30 2 *", Dialect::Standard).unwrap_err();
    /// assert_eq!(error.code(), "never_fires");
    /// ```
    pub fn code(&self) -> &'static str {
        self.0.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}
