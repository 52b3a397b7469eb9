//! The kinds of values that are counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jiff::SignedDuration;

/// Series of one family beyond which the label `other` stands for the rest.
const SERIES_MAX: usize = 500;

/// The label of what is beyond.
const OTHER: &str = "other";

/// Where a duration of seconds falls.
pub(super) const BOUNDS: [f64; 15] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 3_600.0];

/// Only goes up.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    pub(crate) fn set(&self, value: usize) {
        self.0.store(value as u64, Ordering::Relaxed);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A span of time, forward or backward.
#[derive(Debug, Default)]
pub(crate) struct Span(AtomicI64);

impl Span {
    pub(crate) fn set(&self, span: SignedDuration) {
        let micros = i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        self.0.store(micros, Ordering::Relaxed);
    }

    /// In seconds.
    pub(super) fn value(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e6
    }
}

/// Counters by the values of their labels.
#[derive(Debug, Default)]
pub(crate) struct Family(Mutex<BTreeMap<Vec<String>, u64>>);

impl Family {
    pub(crate) fn add(&self, labels: &[&str]) {
        let mut series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        let is_known = series.contains_key(&labels);
        let labels = if is_known || series.len() < SERIES_MAX { labels } else { others(labels) };
        *series.entry(labels).or_default() += 1;
    }

    pub(crate) fn series(&self) -> Vec<(Vec<String>, u64)> {
        let series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        series.iter().map(|(labels, count)| (labels.clone(), *count)).collect()
    }
}

/// The first label is the one without a bound; the others are from closed lists.
fn others(mut labels: Vec<String>) -> Vec<String> {
    if let Some(first) = labels.first_mut() {
        OTHER.clone_into(first);
    }
    labels
}

/// How often a duration fell under each bound.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: [AtomicU64; BOUNDS.len() + 1],
    sum_us: AtomicU64,
}

impl Histogram {
    /// Counts a duration; one that is negative, because a clock was set, counts as none.
    pub(crate) fn observe(&self, duration: SignedDuration) {
        let seconds = duration.as_secs_f64().max(0.0);
        let place = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum_us.fetch_add(u64::try_from(duration.as_micros()).unwrap_or_default(), Ordering::Relaxed);
    }

    /// How many are at or under each bound, the last one all.
    pub(super) fn cumulative(&self) -> Vec<u64> {
        let mut sum = 0;
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let up_to = |count| {
            sum += count;
            sum
        };
        counts.map(up_to).collect()
    }

    /// The sum of all, in seconds.
    pub(super) fn sum(&self) -> f64 {
        self.sum_us.load(Ordering::Relaxed) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_a_bounded_number_of_series() {
        let family = Family::default();
        for target in 0..SERIES_MAX + 7 {
            family.add(&[&target.to_string(), "success"]);
        }
        family.add(&["0", "success"]);
        let series = family.series();
        assert_eq!(series.len(), SERIES_MAX + 1);
        assert!(series.contains(&(vec![OTHER.to_owned(), "success".to_owned()], 7)));
        assert!(series.contains(&(vec!["0".to_owned(), "success".to_owned()], 2)));
    }

    #[test]
    fn a_histogram_counts_up_to_each_bound() {
        let histogram = Histogram::default();
        for ms in [-5, 5, 6, 700, 7_200_000] {
            histogram.observe(SignedDuration::from_millis(ms));
        }
        let counts = histogram.cumulative();
        assert_eq!((counts[0], counts[1], counts[6], counts[7], counts[14], counts[15]), (2, 3, 3, 4, 4, 5));
        assert!((histogram.sum() - 7_200.711).abs() < 1e-6);
    }
}
