//! `cargo xtask faults store`: a process hammers a real database with small batches and is killed, again and again.
//!
//! After each kill the tables are judged by `store_reader.py`, and the next process goes on with the same database, sends
//! some of the unanswered batches again under their ids, and takes over what was in flight. Start with [`series`].

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Database;
use super::notes::{Found, Series};
use crate::check::{SUITE, shown};
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::line::Line;
use crate::repository;

const USAGE: &str = "cargo xtask faults store [--kills N] [--database sqlite|postgres|both]";

/// How often the process is killed, as the promise names it.
const KILLS: u32 = 200;

/// At least this share of the kills lands between a submit and its acknowledgement: 50 of 200.
const BETWEEN_SHARE: u64 = 4;

/// How often it is killed within `check`, on each database.
const KILLS_BOUNDED: u32 = 5;

/// A process lives for a random time between these, counted from its first note; the first one from its first success.
const LIFE_MIN: Duration = Duration::from_millis(200);
const LIFE_MAX: Duration = Duration::from_millis(4_800);

/// A process that notes nothing for this long has not started.
const START_MAX: Duration = Duration::from_secs(60);

/// How often its notes are looked at until the first is there.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Where the virtual clock of the first process begins, in seconds since 1970.
const CLOCK_FROM: i64 = 1_781_524_800;

/// How the process is built.
#[derive(Clone, Copy)]
enum Build {
    Release,
    Debug,
}

/// The command line.
pub(super) fn command(arguments: &[String]) -> Result<(), Failure> {
    let (mut kills, mut databases) = (KILLS, vec![Database::Sqlite, Database::Postgres]);
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if name == "--kills" => {
                let number = value.parse().ok().filter(|number| *number > 0);
                kills = number
                    .ok_or_else(|| Failure::new(format!("`{value}` is not a number of kills"), USAGE))?;
            }
            [name, value] if name == "--database" => databases = Database::named(value, USAGE)?,
            _ => return Err(Failure::new("this cannot be asked for", USAGE)),
        }
    }
    let hammer = hammer(Build::Release)?;
    for database in databases {
        run(&hammer, database, kills)?;
    }
    Ok(())
}

/// A few kills on each database, for `check`.
pub(crate) fn bounded() -> Result<String, Failure> {
    let hammer = hammer(Build::Debug)?;
    for database in [Database::Sqlite, Database::Postgres] {
        run(&hammer, database, KILLS_BOUNDED)?;
    }
    Ok(format!("a process killed {KILLS_BOUNDED} times on each database"))
}

fn hammer(build: Build) -> Result<PathBuf, Failure> {
    let (how, folder) = match build {
        Build::Release => (vec!["--release", "--package", "punctual-bench"], "release"),
        // Of what the tests have built.
        Build::Debug => ([&["--workspace"], &SUITE[..]].concat(), "debug"),
    };
    shown(&Line::new(["cargo", "build", "--bin", "hammer"].into_iter().chain(how)))?;
    Ok(repository::target_directory(&repository::root()?)?.join(folder).join("hammer"))
}

fn run(hammer: &Path, database: Database, kills: u32) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("punctual-faults-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| Failure::new(format!("no folder: {error}"), USAGE))?;
    let result = match database {
        Database::Sqlite => {
            let file = folder.join("ledger.db").display().to_string();
            println!("SQLite, a file in {}", folder.display());
            series(&Ground { hammer, folder: &folder, database: &file }, kills)
        }
        Database::Postgres => {
            let server = Server::start()?;
            println!("PostgreSQL, a private server");
            series(&Ground { hammer, folder: &folder, database: &server.url() }, kills)
        }
    };
    match result {
        Ok(series) => {
            println!("{series}");
            std::fs::remove_dir_all(&folder).map_err(|error| Failure::new(error.to_string(), USAGE))?;
            judged(&series, kills)
        }
        Err(failure) => Err(Failure::new(
            failure.what,
            format!("the notes are kept in {}; {}", folder.display(), failure.hint),
        )),
    }
}

fn judged(series: &Series, kills: u32) -> Result<(), Failure> {
    if series.between() < u64::from(kills) / BETWEEN_SHARE {
        let what = format!("only {} kills landed between a submit and its acknowledgement", series.between());
        return Err(Failure::new(what, "the process was idle: is the machine very busy?"));
    }
    Ok(())
}

/// What a series happens on.
struct Ground<'a> {
    hammer: &'a Path,
    folder: &'a Path,
    database: &'a str,
}

impl Ground<'_> {
    fn notes(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number:04}.notes"))
    }

    /// Asks the reader about the notes of some processes.
    fn ask(&self, command: &str, numbers: impl Iterator<Item = u32>) -> Result<String, Failure> {
        let reader = self.folder.join("store_reader.py");
        if !reader.exists() {
            let written = std::fs::write(self.folder.join("tables.py"), include_str!("tables.py"))
                .and_then(|()| std::fs::write(&reader, include_str!("store_reader.py")));
            written.map_err(|error| Failure::new(format!("the reader cannot be written: {error}"), USAGE))?;
        }
        let reader = reader.display().to_string();
        let notes = numbers.map(|number| self.notes(number).display().to_string());
        let words = ["python3", reader.as_str(), command, self.database].map(str::to_owned);
        Line::new(words.into_iter().chain(notes)).output()
    }
}

/// Kills as often as asked, judges after each, and at the end once more over everything that was ever acknowledged. The
/// reader itself is tried on the way.
fn series(ground: &Ground<'_>, kills: u32) -> Result<Series, Failure> {
    let (mut series, mut clock) = (Series::default(), CLOCK_FROM);
    for number in 1..=kills {
        live_and_die(ground, number, clock)?;
        let found = sound(Found::read(&ground.ask("judge", [number].into_iter())?)?, number)?;
        clock = clock.max(found.last_now);
        series.add(&found);
        if number % 10 == 0 || number == kills {
            println!("{number:>6} kills, {} between", series.between());
        }
        // It looks through the whole ledger once for each alteration, so it does while that is small.
        if number == kills.min(KILLS_BOUNDED) {
            let tested = ground.ask("self-test", 1..=number)?;
            println!("       the reader notices what is altered: {}", tested.trim());
        }
    }
    sound(Found::read(&ground.ask("judge", 1..=kills)?)?, kills)?;
    println!("       everything that was ever acknowledged is there");
    Ok(series)
}

/// Starts a process, lets it work for a random while and kills it.
fn live_and_die(ground: &Ground<'_>, number: u32, clock: i64) -> Result<(), Failure> {
    let notes = ground.notes(number);
    let mut command = Command::new(ground.hammer);
    command.arg(ground.database).arg(&notes).arg(clock.to_string());
    if number > 1 {
        command.arg(ground.notes(number - 1));
    }
    let failed = |error: std::io::Error| Failure::new(format!("the process: {error}"), USAGE);
    let mut process = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(failed)?;
    let wanted = if number == 1 { has_ended_a_run } else { has_begun };
    wait_until(&mut process, || wanted(&notes))?;
    std::thread::sleep(life().map_err(failed)?);
    if let Some(status) = process.try_wait().map_err(failed)? {
        return Err(ended(&mut process, &status.to_string()));
    }
    process.kill().and_then(|()| process.wait()).map_err(failed)?;
    Ok(())
}

fn has_begun(notes: &Path) -> bool {
    std::fs::metadata(notes).is_ok_and(|file| file.len() > 0)
}

/// The reader's test of itself alters a run whose success was acknowledged; on a busy machine that takes a while.
fn has_ended_a_run(notes: &Path) -> bool {
    let ended = |line: &str| line.starts_with("ack ") && line.contains("\"success\"");
    std::fs::read_to_string(notes).is_ok_and(|text| text.lines().any(ended))
}

fn wait_until(process: &mut Child, wanted: impl Fn() -> bool) -> Result<(), Failure> {
    let begun = std::time::Instant::now();
    while !wanted() {
        if let Ok(Some(status)) = process.try_wait() {
            return Err(ended(process, &status.to_string()));
        }
        if begun.elapsed() > START_MAX {
            let stopped = process.kill().and_then(|()| process.wait());
            return Err(Failure::new(format!("the process did not begin to work ({stopped:?})"), USAGE));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// A process never ends by itself; if it does, its words tell why.
fn ended(process: &mut Child, status: &str) -> Failure {
    let mut said = String::new();
    if let Some(stderr) = &mut process.stderr {
        // Without its words its status has to do.
        let _ = stderr.read_to_string(&mut said);
    }
    Failure::new(
        format!("the process ended by itself with {status}: {}", said.trim()),
        "a fault of the store?",
    )
}

fn life() -> std::io::Result<Duration> {
    let mut bytes = [0_u8; 4];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let part = f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX);
    Ok(LIFE_MIN + (LIFE_MAX - LIFE_MIN).mul_f64(part))
}

/// Refuses what must not be.
fn sound(found: Found, number: u32) -> Result<Found, Failure> {
    if found.count > 0 {
        let what =
            format!("{} problems after kill {number}:\n  {}", found.count, found.problems.join("\n  "));
        return Err(Failure::new(what, "`store_reader.py judge` says it again"));
    }
    match found.fails.first() {
        Some(fail) => {
            Err(Failure::new(format!("a call failed before kill {number}: {fail}"), "no call may fail here"))
        }
        None => Ok(found),
    }
}
