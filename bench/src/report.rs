//! What comes out: a table for people and JSON for programs, both with medians of the repeats.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Failure;

/// So many rows in so much time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) count: u64,
    pub(crate) elapsed: Duration,
    /// Seconds that this process computed meanwhile, on all cores; a server's own are not in it.
    pub(crate) computed_s: f64,
}

/// Time that passes, and time that this process computes.
pub(crate) struct Stopwatch {
    start: Instant,
    computed_s: f64,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { computed_s: computed_s(), start: Instant::now() }
    }

    /// So many rows since the start.
    pub(crate) fn stop(&self, count: u64) -> Rate {
        Rate { count, elapsed: self.start.elapsed(), computed_s: computed_s() - self.computed_s }
    }
}

/// User and system time of this process, as Linux counts it; 0 where it does not tell.
fn computed_s() -> f64 {
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold anything; the fields are counted behind it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS_PER_S
}

impl Rate {
    pub(crate) fn per_second(&self) -> f64 {
        self.count as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn computed_us(&self) -> f64 {
        self.computed_s * 1e6 / self.count as f64
    }
}

/// Everything measured of one database and size.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) database: &'static str,
    pub(crate) schedules: u32,
    /// Fires per second in the study's shape.
    pub(crate) shape: Vec<f64>,
    /// Runs per second of the raw ceiling.
    pub(crate) ceiling: Vec<f64>,
    /// Runs per second of ours.
    pub(crate) ours: Vec<f64>,
    /// Microseconds of computing per run of the ceiling, and of ours.
    pub(crate) ceiling_cpu_us: Vec<f64>,
    pub(crate) ours_cpu_us: Vec<f64>,
    /// Schedules made per second.
    pub(crate) creates: Vec<f64>,
    /// Milliseconds from the opening to the first batch of plannable schedules.
    pub(crate) first_ms: Vec<f64>,
    /// Microseconds per run that each part of ours took, in the last repeat; parts overlap.
    pub(crate) parts_us: BTreeMap<&'static str, f64>,
}

impl Figures {
    /// Ours beside the ceiling.
    fn ratio(&self) -> Option<f64> {
        Some(median(&self.ours)? / median(&self.ceiling)?)
    }

    fn line(&self) -> String {
        let number = |values: &[f64]| median(values).map_or("-".to_owned(), |value| format!("{value:.0}"));
        format!(
            "{:<9} {:>9} {:>10} {:>10} {:>10} {:>6} {:>7} {:>7} {:>10} {:>9}",
            self.database,
            self.schedules,
            number(&self.shape),
            number(&self.ceiling),
            number(&self.ours),
            self.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            number(&self.ceiling_cpu_us),
            number(&self.ours_cpu_us),
            number(&self.creates),
            number(&self.first_ms),
        )
    }

    fn json(&self) -> Value {
        let both = |values: &[f64]| json!({ "median": median(values), "all": values });
        json!({
            "database": self.database,
            "schedules": self.schedules,
            "study_fires_per_s": both(&self.shape),
            "ceiling_runs_per_s": both(&self.ceiling),
            "ours_runs_per_s": both(&self.ours),
            "ratio": self.ratio(),
            "ceiling_cpu_us_per_run": both(&self.ceiling_cpu_us),
            "ours_cpu_us_per_run": both(&self.ours_cpu_us),
            "creates_per_s": both(&self.creates),
            "first_plannable_ms": both(&self.first_ms),
            "parts_us_per_run": self.parts_us,
        })
    }
}

/// The value in the middle.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The table with its heading.
pub(crate) fn table(all: &[Figures]) -> String {
    let head =
        "database  schedules    study/s  ceiling/s     ours/s  ratio ceil µs ours µs  creates/s  first ms";
    let lines = all.iter().map(|figures| format!("{}\n", figures.line()));
    format!("{head}\n{}", lines.collect::<String>())
}

/// Writes everything to a file.
pub(crate) fn write(path: &Path, all: &[Figures]) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // The machine is part of a figure.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let figures: Vec<Value> = all.iter().map(Figures::json).collect();
    let whole = json!({ "cores": cores, "load_at_end": load.trim(), "figures": figures });
    Ok(std::fs::write(path, format!("{whole:#}\n"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_one_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}
