//! What comes out: a table for people and JSON for programs, both with medians of the repeats.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Failure;

/// What ours must reach of the raw ceiling.
const RATIO_MIN: f64 = 0.5;

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
        Self { computed_s: computed_s("self"), start: Instant::now() }
    }

    /// So many rows since the start.
    pub(crate) fn stop(&self, count: u64) -> Rate {
        Rate { count, elapsed: self.start.elapsed(), computed_s: computed_s("self") - self.computed_s }
    }
}

/// User and system time of a process, as Linux counts it; 0 where it does not tell.
pub(crate) fn computed_s(process: &str) -> f64 {
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
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

    pub(crate) const HEAD: &'static [&'static str] = &[
        "database",
        "schedules",
        "study/s",
        "ceiling/s",
        "ours/s",
        "ratio",
        "limit",
        "ceil µs",
        "ours µs",
        "creates/s",
        "first ms",
    ];

    pub(crate) fn cells(&self) -> Vec<String> {
        vec![
            self.database.to_owned(),
            self.schedules.to_string(),
            middle(&self.shape),
            middle(&self.ceiling),
            middle(&self.ours),
            self.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            format!("≥ {RATIO_MIN}"),
            middle(&self.ceiling_cpu_us),
            middle(&self.ours_cpu_us),
            middle(&self.creates),
            middle(&self.first_ms),
        ]
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "database": self.database,
            "schedules": self.schedules,
            "study_fires_per_s": both(&self.shape),
            "ceiling_runs_per_s": both(&self.ceiling),
            "ours_runs_per_s": both(&self.ours),
            "ratio": self.ratio(),
            "ratio_limit_min": RATIO_MIN,
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

/// Values with the one in the middle, for programs.
pub(crate) fn both(values: &[f64]) -> Value {
    json!({ "median": median(values), "all": values })
}

/// The value in the middle, for people.
pub(crate) fn middle(values: &[f64]) -> String {
    median(values).map_or("-".to_owned(), |value| format!("{value:.0}"))
}

/// The figures of one part: lines for people and values for programs.
pub(crate) struct Sheet {
    part: &'static str,
    head: &'static [&'static str],
    lines: Vec<Vec<String>>,
    json: Vec<Value>,
}

impl Sheet {
    pub(crate) fn new(part: &'static str, head: &'static [&'static str]) -> Self {
        Self { part, head, lines: Vec::new(), json: Vec::new() }
    }

    /// Adds a line, which has as many cells as the heading.
    pub(crate) fn add(&mut self, line: Vec<String>, json: Value) {
        self.lines.push(line);
        self.json.push(json);
    }

    /// Tells whoever waits what was measured just now.
    pub(crate) fn show_last(&self) {
        let last = self.lines.len().saturating_sub(1);
        eprintln!("{}", self.text_from(last));
    }

    /// The table with its heading.
    pub(crate) fn text(&self) -> String {
        self.text_from(0)
    }

    fn text_from(&self, first: usize) -> String {
        let head: Vec<String> = self.head.iter().map(|word| (*word).to_owned()).collect();
        let lines: Vec<&Vec<String>> = std::iter::once(&head).chain(&self.lines[first..]).collect();
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
        };
        let mut text = format!("{}\n", self.part);
        for line in &lines {
            let cells = line.iter().enumerate().map(|(column, cell)| {
                let width = width(column).unwrap_or_default();
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            text.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join("  ")));
        }
        text
    }
}

/// Writes everything to a file.
pub(crate) fn write(path: &Path, sheets: &[Sheet]) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // The machine is part of a figure.
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let parts: BTreeMap<&str, &[Value]> =
        sheets.iter().map(|sheet| (sheet.part, sheet.json.as_slice())).collect();
    let whole = json!({ "cores": cores, "load_at_end": load.trim(), "parts": parts });
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
