//! How long `next` and `parse` take, beside the two other crates that people choose, in the same run.
//!
//! `cargo bench -p punctual-time` prints one line per expression: nanoseconds per call, the best of several
//! windows, sequential (each answer is the next question) and at random instants over fifty years.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and fails at once")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::str::FromStr;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeZone};
use jiff::Timestamp;
use punctual_time::{Cron, Dialect, Zone};

/// The expressions of the comparison; those with six fields start with seconds.
const EXPRESSIONS: [&str; 20] = [
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "0 0 * * *",
    "0 9 * * MON-FRI",
    "0 0 * * SUN",
    "0 0 1 * *",
    "0 12 31 * *",
    "0 0 29 2 *",
    "0 0 1 1 *",
    "0 0 L * *",
    "*/15 9-17 * * MON-FRI",
    "1-59/7,3,8 2-22/3 * * *",
    "30 4 1,15 * *",
    "0 0 1,15 * FRI",
    "* * * * * *",
    "*/10 * * * * *",
    "30 15 10 * * MON-FRI",
    "0 6 1 1,4,7,10 *",
    "30 2 * * *",
];

/// Where the chains start, and how long they are.
const START: i64 = 1_768_472_243;
const CHAIN: usize = 10;
/// Random instants lie between 2000 and 2050.
const RANDOM_FROM: i64 = 946_684_800;
const RANDOM_TO: i64 = 2_524_608_000;
const RANDOM_COUNT: usize = 4096;
/// The best of so many windows of this length counts.
const WINDOWS: usize = 7;
const WINDOW: Duration = Duration::from_millis(6);

/// Nanoseconds per call of a round of `calls` calls.
fn measure(calls: usize, mut round: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..WINDOWS {
        let start = Instant::now();
        let mut rounds = 0_u32;
        while start.elapsed() < WINDOW {
            round();
            rounds += 1;
        }
        let each = start.elapsed().as_secs_f64() * 1e9 / (f64::from(rounds) * calls as f64);
        best = best.min(each);
    }
    best
}

/// Pseudo-random instants, the same in every run.
fn instants() -> Vec<i64> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let span = (RANDOM_TO - RANDOM_FROM) as u64;
    (0..RANDOM_COUNT).map(|_| RANDOM_FROM + (draw() % span) as i64).collect()
}

/// Sequential and random nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    chain: f64,
    random: f64,
}

fn ours(text: &str, zone: &Zone) -> Cost {
    let cron = Cron::parse(text, Dialect::Standard).unwrap();
    let start = Timestamp::from_second(START).unwrap();
    let chain = measure(CHAIN * 100, || {
        for _ in 0..100 {
            let mut at = black_box(start);
            for _ in 0..CHAIN {
                at = black_box(&cron).next(at, zone).unwrap();
            }
            black_box(at);
        }
    });
    let instants: Vec<Timestamp> =
        instants().into_iter().map(|at| Timestamp::from_second(at).unwrap()).collect();
    let random = measure(RANDOM_COUNT, || {
        for &at in &instants {
            black_box(black_box(&cron).next(at, zone));
        }
    });
    Cost { chain, random }
}

fn theirs<Z: TimeZone + Copy>(zone: Z, next: impl Fn(&DateTime<Z>) -> DateTime<Z>) -> Cost {
    let moment = |at: i64| DateTime::from_timestamp(at, 0).unwrap().with_timezone(&zone);
    let start = moment(START);
    let chain = measure(CHAIN, || {
        let mut at = black_box(start.clone());
        for _ in 0..CHAIN {
            at = next(&at);
        }
        black_box(at);
    });
    let instants: Vec<DateTime<Z>> = instants().into_iter().take(256).map(moment).collect();
    let random = measure(instants.len(), || {
        for at in &instants {
            black_box(next(at));
        }
    });
    Cost { chain, random }
}

fn croner<Z: TimeZone + Copy>(text: &str, zone: Z) -> Cost {
    let cron = croner::Cron::from_str(text).unwrap();
    theirs(zone, |at| black_box(&cron).find_next_occurrence(at, false).unwrap())
}

fn cron<Z: TimeZone + Copy>(text: &str, zone: Z) -> Option<Cost> {
    let schedule = cron::Schedule::from_str(&with_seconds(text)).ok()?;
    Some(theirs(zone, |at| black_box(&schedule).after(at).next().unwrap()))
}

fn with_seconds(text: &str) -> String {
    if text.split(' ').count() == 5 { format!("0 {text}") } else { text.to_owned() }
}

/// One line of the table, and the figures to sum up.
struct Line {
    ours: Cost,
    faster: Cost,
}

fn line<Z: TimeZone + Copy>(text: &str, zone: &Zone, other: Z) -> Line {
    let ours = ours(text, zone);
    let croner = croner(text, other);
    let cron = cron(text, other);
    let faster = Cost {
        chain: cron.map_or(croner.chain, |cron| cron.chain.min(croner.chain)),
        random: cron.map_or(croner.random, |cron| cron.random.min(croner.random)),
    };
    let shown = |cost: Option<Cost>, pick: fn(Cost) -> f64| {
        cost.map_or("-".into(), |cost| format!("{:.0}", pick(cost)))
    };
    println!(
        "| `{text}` | {:.1} | {:.0} | {} | {:.0}x | {:.1} | {:.0} | {} | {:.0}x |",
        ours.chain,
        croner.chain,
        shown(cron, |cost| cost.chain),
        faster.chain / ours.chain,
        ours.random,
        croner.random,
        shown(cron, |cost| cost.random),
        faster.random / ours.random,
    );
    Line { ours, faster }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2] + values[(values.len() - 1) / 2]) / 2.0
}

fn table<Z: TimeZone + Copy>(zone: &Zone, other: Z) {
    println!("\nnext() in {zone}, nanoseconds per call\n");
    println!("| expression | chain | croner 4 | cron 0.17 | ratio | random | croner 4 | cron 0.17 | ratio |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let lines: Vec<Line> = EXPRESSIONS.iter().map(|text| line(text, zone, other)).collect();
    let chain = median(lines.iter().map(|line| line.ours.chain).collect());
    let random = median(lines.iter().map(|line| line.ours.random).collect());
    let worst = lines.iter().map(|line| line.ours.chain).fold(0.0, f64::max);
    let worst_random = lines.iter().map(|line| line.ours.random).fold(0.0, f64::max);
    let peer_chain = median(lines.iter().map(|line| line.faster.chain).collect());
    let peer_random = median(lines.iter().map(|line| line.faster.random).collect());
    println!(
        "\nsequential: median {chain:.1} ns, worst {worst:.1} ns; faster peer {peer_chain:.0} ns: {:.1}x",
        peer_chain / chain
    );
    println!(
        "random:     median {random:.1} ns, worst {worst_random:.1} ns; faster peer {peer_random:.0} ns: {:.1}x",
        peer_random / random
    );
}

fn parsing() {
    println!("\nparse, nanoseconds per call\n");
    println!("| expression | ours | croner 4 | cron 0.17 |");
    println!("| --- | ---: | ---: | ---: |");
    let mut all = Vec::new();
    for text in EXPRESSIONS {
        let ours = measure(100, || {
            for _ in 0..100 {
                let _ = black_box(Cron::parse(black_box(text), Dialect::Standard));
            }
        });
        let croner = measure(1, || {
            let _ = black_box(croner::Cron::from_str(black_box(text)));
        });
        let six = with_seconds(text);
        let cron = measure(1, || {
            let _ = black_box(cron::Schedule::from_str(black_box(&six)));
        });
        println!("| `{text}` | {ours:.0} | {croner:.0} | {cron:.0} |");
        all.push(ours);
    }
    let worst = all.iter().copied().fold(0.0, f64::max);
    println!("\nparse: median {:.0} ns, worst {worst:.0} ns; size {} bytes", median(all), size_of::<Cron>());
}

/// What it costs to make a zone, which is done once and kept.
fn zones() {
    let each = measure(1, || {
        black_box(Zone::get(black_box("America/New_York")).unwrap());
    });
    println!("\nZone::get: {:.0} microseconds", each / 1000.0);
}

fn main() {
    table(&Zone::utc(), chrono::Utc);
    table(&Zone::get("America/New_York").unwrap(), chrono_tz::America::New_York);
    parsing();
    zones();
}
