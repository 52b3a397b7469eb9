//! A set of small numbers, as the fields of a cron expression hold them.

use std::fmt;

/// The values of one cron field: a set of numbers from 0 to 63.
///
/// ```
/// use punctual_time::{Cron, Dialect, Field};
///
/// let cron = Cron::parse("*/20 * * * *", Dialect::Standard)?;
/// let minutes = cron.set(Field::Minute);
/// assert_eq!(minutes.iter().collect::<Vec<_>>(), [0, 20, 40]);
/// assert!(minutes.contains(40) && !minutes.contains(41));
/// assert_eq!(minutes.len(), 3);
/// # Ok::<(), punctual_time::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Set(u64);

impl Set {
    pub(crate) fn from_bits(bits: u64) -> Self {
        Set(bits)
    }

    /// The set as bits: value `n` is bit `n`.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("0,3 * * * *", Dialect::Standard)?;
    /// assert_eq!(cron.set(Field::Minute).bits(), 0b1001);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether `value` is in the set.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("0,3 * * * *", Dialect::Standard)?;
    /// assert!(cron.set(Field::Minute).contains(3));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn contains(self, value: u32) -> bool {
        value < 64 && self.0 >> value & 1 == 1
    }

    /// How many values the set has.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("0,3 * * * *", Dialect::Standard)?;
    /// assert_eq!(cron.set(Field::Hour).len(), 24);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set has no values.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("0 0 L * *", Dialect::Standard)?;
    /// assert!(cron.set(Field::DayOfMonth).is_empty());
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The smallest value.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("7,3 * * * *", Dialect::Standard)?;
    /// assert_eq!(cron.set(Field::Minute).first(), Some(3));
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn first(self) -> Option<u32> {
        (self.0 != 0).then(|| self.0.trailing_zeros())
    }

    /// The values in ascending order.
    ///
    /// ```
    /// # use punctual_time::{Cron, Dialect, Field};
    /// # let cron = Cron::parse("0 7,3 * * *", Dialect::Standard)?;
    /// assert_eq!(cron.set(Field::Hour).iter().collect::<Vec<_>>(), [3, 7]);
    /// # Ok::<(), punctual_time::Error>(())
    /// ```
    pub fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let value = rest.trailing_zeros();
            (rest != 0).then(|| {
                rest &= rest - 1;
                value
            })
        })
    }
}

/// Ranges and single values, as POSIX cron would write them: `0-5,9,11`.
impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        let mut separator = "";
        while rest != 0 {
            let start = rest.trailing_zeros();
            let run = (rest >> start).trailing_ones();
            let end = start + run - 1;
            match run {
                1 => write!(f, "{separator}{start}")?,
                2 => write!(f, "{separator}{start},{end}")?,
                _ => write!(f, "{separator}{start}-{end}")?,
            }
            separator = ",";
            rest = if end == 63 { 0 } else { rest >> (end + 1) << (end + 1) };
        }
        Ok(())
    }
}
