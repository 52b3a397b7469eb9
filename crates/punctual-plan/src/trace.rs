//! Trace: where a run stands among the works of many programs, in the form of the W3C's `traceparent`.
//!
//! A run has one from its admission on, or brings that of whoever asked for it; every target gets it as it is, so that
//! what the target does joins the same trace.

use core::fmt;
use core::str::FromStr;

/// The flag that says that whoever began the trace keeps it.
const SAMPLED: u8 = 1;

/// The length of a `traceparent` of version 0.
const LETTERS: usize = 55;

/// A trace and the place in it that what comes next belongs below.
///
/// ```
/// use punctual_plan::Trace;
///
/// let trace: Trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse()?;
/// assert_eq!((trace.parent(), trace.is_sampled()), (0xb7ad6b7169203331, true));
/// assert_eq!(trace.to_string(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// assert!("00-00000000000000000000000000000000-b7ad6b7169203331-01".parse::<Trace>().is_err());
/// # Ok::<(), punctual_plan::BadTrace>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    id: u128,
    parent: u64,
    flags: u8,
}

impl Trace {
    /// A new trace from random numbers: whoever takes part in it keeps it.
    pub fn new(id: u128, parent: u64) -> Self {
        // Zero stands for none, in either place.
        Self { id: id.max(1), parent: parent.max(1), flags: SAMPLED }
    }

    /// The number of the whole trace.
    pub fn id(self) -> u128 {
        self.id
    }

    /// The number of the place in it.
    pub fn parent(self) -> u64 {
        self.parent
    }

    /// Whether whoever began it keeps it.
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.id, self.parent, self.flags)
    }
}

/// A text that is no `traceparent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTrace;

impl fmt::Display for BadTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no `traceparent` of the W3C")
    }
}

impl core::error::Error for BadTrace {}

impl FromStr for Trace {
    type Err = BadTrace;

    /// Reads version 0, and of a later version the parts that version 0 has.
    fn from_str(text: &str) -> Result<Self, BadTrace> {
        read(text).ok_or(BadTrace)
    }
}

fn read(text: &str) -> Option<Trace> {
    let (known, more) = (text.get(..LETTERS)?, text.get(LETTERS..)?);
    let mut parts = known.split('-');
    let version = hex(parts.next()?, 2)?;
    let (id, parent, flags) = (hex(parts.next()?, 32)?, hex(parts.next()?, 16)?, hex(parts.next()?, 2)?);
    // Version 255 is none; only a later version may say more, behind another dash.
    let is_read = match version {
        0 => more.is_empty(),
        255 => false,
        _ => more.is_empty() || more.starts_with('-'),
    };
    let (parent, flags) = (u64::try_from(parent).ok()?, u8::try_from(flags).ok()?);
    // What the other flags will mean is not known here.
    (is_read && id != 0 && parent != 0).then_some(Trace { id, parent, flags: flags & SAMPLED })
}

/// A number in so many small hexadecimal letters.
fn hex(text: &str, letters: usize) -> Option<u128> {
    let is_plain = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_right = text.len() == letters && text.bytes().all(is_plain);
    is_right.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0af7651916cd43dd8448eb211c80319c";
    const PARENT: &str = "b7ad6b7169203331";

    #[test]
    fn what_the_w3c_calls_valid_is_read_and_the_rest_is_not() {
        let check =
            |text: String, expected: bool| assert_eq!(text.parse::<Trace>().is_ok(), expected, "{text}");
        for flags in ["00", "01", "03", "ff"] {
            check(format!("00-{ID}-{PARENT}-{flags}"), true);
        }
        check(format!("01-{ID}-{PARENT}-01-what-comes-later"), true);
        check(format!("01-{ID}-{PARENT}-01"), true);
        check(format!("00-{ID}-{PARENT}-01-more"), false);
        check(format!("01-{ID}-{PARENT}-01more"), false);
        check(format!("ff-{ID}-{PARENT}-01"), false);
        check(format!("00-{}-{PARENT}-01", "0".repeat(32)), false);
        check(format!("00-{ID}-{}-01", "0".repeat(16)), false);
        check(format!("00-{}-{PARENT}-01", ID.to_uppercase()), false);
        check(format!("00-{ID}-{PARENT}"), false);
        check(format!("00_{ID}_{PARENT}_01"), false);
        check(format!("00-{}-{PARENT}-0+1", &ID[1..]), false);
        check("ä".repeat(40), false);
        check(String::new(), false);
    }

    #[test]
    fn a_new_trace_is_kept_and_never_zero() {
        let text = Trace::new(0, 0).to_string();
        assert_eq!(text, format!("00-{}1-{}1-01", "0".repeat(31), "0".repeat(15)));
        assert_eq!(text.parse(), Ok(Trace::new(0, 0)));
        let trace: Trace = format!("00-{ID}-{PARENT}-fe").parse().unwrap();
        assert_eq!((trace.is_sampled(), trace.to_string()), (false, format!("00-{ID}-{PARENT}-00")));
    }
}
