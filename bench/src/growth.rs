//! Growth: how many instructions a decided tick costs (planned, admitted, settled) while the tables grow a thousandfold.
//!
//! `cargo xtask bench growth` builds and runs it. A database of each size is made and warmed up at full speed; then this program
//! starts itself on copies of it under callgrind, for a few steps and for a few more. What the second did beyond the first is what
//! its further ticks cost, without the opening and the joining. Instructions are counted, not time, so that a busy machine counts
//! the same; the figures are kept in a file, beside which the next ones stand.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use punctual_store::{Access, Sqlite};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::file;
use crate::options::count;
use crate::ours::{self, InFlight, Ours};
use crate::report::{self, Sheet, median};
use crate::workload::Workload;

const HINT: &str =
    "growth [--sizes 1k,10k,100k,1M] [--repeats 1] [--kept FILE] [--then compare|replace] [--out FILE]";

/// The word by which this program starts itself under callgrind.
const WORD: &str = "grow";

/// What the dearest size may cost beside the cheapest.
const FLAT: f64 = 1.5;

/// What a size may cost beside what it cost when its figure was kept.
const GROWN: f64 = 1.1;

/// Steps before any instruction is counted, at full speed.
const WARM_UP: i64 = 4;

/// Ticks by which the longer pass is longer than the shorter one, at least.
const TICKS: i64 = 10_000;

/// Steps of the shorter pass: plans, admissions and ends are all under way.
const SHORT: i64 = 2;

/// How many times slower a process is under callgrind, at least: without saying so, what ends in time at one size would be too
/// late at another, and go another way.
const SLOWNESS: u32 = 200;

/// What becomes of the kept figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Compare,
    Replace,
}

struct Wish {
    sizes: Vec<u32>,
    repeats: u32,
    kept: PathBuf,
    then: Then,
    out: PathBuf,
}

impl Wish {
    fn read(words: &[String]) -> Result<Self, Failure> {
        let mut wish = Self {
            sizes: vec![1_000, 10_000, 100_000, 1_000_000],
            repeats: 1,
            kept: PathBuf::from("docs/bench/growth.json"),
            then: Then::Compare,
            out: PathBuf::from("target/bench/growth.json"),
        };
        for pair in words.chunks(2) {
            let [name, value] = pair else { return Err(HINT.into()) };
            match (name.as_str(), value.as_str()) {
                ("--sizes", _) => wish.sizes = value.split(',').map(count).collect::<Result<_, _>>()?,
                ("--repeats", _) => wish.repeats = count(value)?,
                ("--kept", _) => wish.kept = PathBuf::from(value),
                ("--then", "compare") => wish.then = Then::Compare,
                ("--then", "replace") => wish.then = Then::Replace,
                ("--out", _) => wish.out = PathBuf::from(value),
                _ => return Err(HINT.into()),
            }
        }
        Ok(wish)
    }
}

/// What was counted of one size.
struct Counted {
    size: u32,
    instructions: Vec<f64>,
}

/// Runs what the command line asks for; what grew is an error.
pub(crate) async fn run(words: &[String]) -> Result<(), Failure> {
    let wish = Wish::read(words)?;
    let kept = kept(&wish.kept)?;
    let mut all = Vec::new();
    for size in &wish.sizes {
        let counted = Counted { size: *size, instructions: measure(*size, wish.repeats).await? };
        eprintln!("{size} schedules: {:.0} instructions per decided tick", counted.middle());
        all.push(counted);
    }
    let sheet = sheet(&all, &kept);
    println!("{}", sheet.text());
    report::write(&wish.out, &[sheet])?;
    match wish.then {
        Then::Replace => keep(&wish.kept, kept, &all),
        Then::Compare => judge(&all, &kept),
    }
}

impl Counted {
    fn middle(&self) -> f64 {
        median(&self.instructions).unwrap_or(f64::NAN)
    }

    /// How much it costs beside what was kept.
    fn change(&self, kept: &Map<String, Value>) -> Option<f64> {
        Some(self.middle() / kept.get(&self.size.to_string())?.as_f64()?)
    }
}

fn sheet(all: &[Counted], kept: &Map<String, Value>) -> Sheet {
    let head = &["schedules", "instructions per tick", "to the cheapest", "limit", "kept", "change"];
    let mut sheet = Sheet::new("growth", head);
    let least = all.iter().map(Counted::middle).fold(f64::INFINITY, f64::min);
    for one in all {
        let middle = one.middle();
        let before = kept.get(&one.size.to_string()).and_then(Value::as_f64);
        let change =
            one.change(kept).map_or("-".to_owned(), |change| format!("{:+.1} %", (change - 1.0) * 100.0));
        let line = vec![
            one.size.to_string(),
            format!("{middle:.0}"),
            format!("{:.2}", middle / least),
            format!("≤ {FLAT}"),
            before.map_or("-".to_owned(), |before| format!("{before:.0}")),
            change,
        ];
        let json = json!({
            "database": "sqlite", "schedules": one.size, "instructions_per_tick": report::both(&one.instructions),
            "ratio": middle / least, "ratio_limit_max": FLAT, "kept": before, "kept_ratio": one.change(kept),
        });
        sheet.add(line, json);
    }
    sheet
}

/// Says which sizes cost too much beside the cheapest, or have grown since their figure was kept.
fn judge(all: &[Counted], kept: &Map<String, Value>) -> Result<(), Failure> {
    let least = all.iter().map(Counted::middle).fold(f64::INFINITY, f64::min);
    let sizes = |is_too_dear: &dyn Fn(&Counted) -> bool| {
        let named = all.iter().filter(|one| is_too_dear(one)).map(|one| one.size.to_string());
        named.collect::<Vec<_>>().join(", ")
    };
    let steep = sizes(&|one| one.middle() > least * FLAT);
    if !steep.is_empty() {
        return Err(
            format!("a decided tick costs over {FLAT} times the cheapest at {steep} schedules").into()
        );
    }
    let grown = sizes(&|one| one.change(kept).is_some_and(|change| change > GROWN));
    match grown.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "a decided tick costs over {:.0} % more than what is kept at {grown} schedules; `--then replace` keeps the new figures",
            (GROWN - 1.0) * 100.0,
        )
        .into()),
    }
}

/// The figures of the file; none if there is no such file yet.
fn kept(path: &Path) -> Result<Map<String, Value>, Failure> {
    if !path.exists() {
        return Ok(Map::new());
    }
    let whole: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    Ok(whole["sqlite"].as_object().cloned().unwrap_or_default())
}

/// Writes the new figures over the kept ones; sizes that were not measured stay.
fn keep(path: &Path, mut kept: Map<String, Value>, all: &[Counted]) -> Result<(), Failure> {
    for one in all {
        kept.insert(one.size.to_string(), json!(one.middle().round() as i64));
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let whole = json!({
        "what": "instructions per decided tick (planned, admitted, settled), by schedules, as callgrind counts them",
        "architecture": std::env::consts::ARCH,
        "sqlite": kept,
    });
    Ok(std::fs::write(path, format!("{whole:#}\n"))?)
}

/// Instructions per decided tick of a size, once for each repeat.
async fn measure(size: u32, repeats: u32) -> Result<Vec<f64>, Failure> {
    let folder = tempfile::tempdir()?;
    let prepared = folder.path().join("prepared.db");
    let workload = Workload::new(size, TICKS);
    let store = Arc::new(Sqlite::open(&prepared, Access::Serve)?);
    ours::create(&store, workload, 1).await?;
    let ours = Ours::join(store, 1).await?;
    let mut in_flight = InFlight::default();
    for number in 1..=WARM_UP {
        ours.step(workload.step(number), &mut in_flight).await?;
    }
    ours.finish(workload.step(WARM_UP), in_flight).await?;
    ours.leave().await?;
    drop(ours);
    file::checkpoint(&prepared)?;
    let mut counted = Vec::new();
    for _ in 0..repeats {
        let short = pass(&prepared, size, SHORT)?;
        let long = pass(&prepared, size, SHORT + workload.steps)?;
        let ticks = (long.ticks - short.ticks) as f64;
        counted.push((long.instructions - short.instructions) as f64 / ticks);
    }
    Ok(counted)
}

struct Pass {
    ticks: i64,
    instructions: i64,
}

/// Lets so many steps be done on a copy, under callgrind.
fn pass(prepared: &Path, size: u32, steps: i64) -> Result<Pass, Failure> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy.db");
    std::fs::copy(prepared, &copy)?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(std::env::current_exe()?);
    command.arg(WORD).arg(&copy).args([size.to_string(), steps.to_string()]);
    let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("under callgrind it ended with {}: {complained}", output.status).into());
    }
    let instructions = collected(&complained).ok_or("callgrind said nothing of instructions")?;
    Ok(Pass { ticks: said.trim().parse()?, instructions })
}

/// `==PID== Collected : NUMBER`.
fn collected(text: &str) -> Option<i64> {
    text.lines().find_map(|line| line.split_once("Collected :")?.1.split_whitespace().next()?.parse().ok())
}

/// `grow FILE SIZE STEPS`: the steps themselves, and how many ticks were settled by them; nothing if the words say something
/// else.
pub(crate) async fn serve(words: &[String]) -> Option<Result<(), Failure>> {
    match words {
        [word, file, size, steps] if word == WORD => Some(grow(Path::new(file), size, steps).await),
        _ => None,
    }
}

async fn grow(file: &Path, size: &str, steps: &str) -> Result<(), Failure> {
    let (workload, steps) = (Workload::new(count(size)?, TICKS), steps.parse::<i64>()?);
    let store = Sqlite::open(file, Access::Serve)?;
    store.slow_down(SLOWNESS);
    let ours = Ours::join(Arc::new(store), 1).await?;
    let (mut settled, mut in_flight) = (0, InFlight::default());
    for number in 1..=steps {
        settled += ours.step(workload.step(WARM_UP + number), &mut in_flight).await?;
    }
    println!("{settled}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callgrind_counted_is_found_in_what_it_says() {
        let text = "==12== Events    : Ir\n==12== Collected : 4711\n==12==\n";
        assert_eq!(collected(text), Some(4_711));
        assert_eq!(collected("no such line"), None);
    }

    #[test]
    fn what_grew_by_more_than_a_tenth_or_with_its_size_is_named() {
        let kept = json!({"1000": 100.0, "10000": 100.0}).as_object().cloned().expect("an object");
        let of = |size, instructions| Counted { size, instructions: vec![instructions] };
        let told = |all: &[Counted]| judge(all, &kept).map_err(|problem| problem.to_string()).err();
        let grown = told(&[of(1_000, 109.0), of(10_000, 111.0), of(100_000, 163.0)]).expect("one has grown");
        assert!(grown.contains("more than what is kept at 10000 schedules"), "{grown}");
        let steep = told(&[of(1_000, 109.0), of(100_000, 164.0)]).expect("one is too dear");
        assert!(steep.contains("1.5 times the cheapest at 100000 schedules"), "{steep}");
        assert_eq!(told(&[of(1_000, 109.0)]), None);
    }
}
