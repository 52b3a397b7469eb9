//! `cargo xtask faults serve`: the program under load is killed at every named place in turn, at random moments and after
//! it was stopped for a while; after each kill `ledger_reader.py` judges the tables, and the next process goes on with them.
//!
//! Start with [`Series::run`]. The program has the feature `fail-points`, which lets it kill itself at a named place.

mod tally;
mod way;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use self::tally::Tally;
use self::way::Way;
use super::Database;
use super::dice::Dice;
use super::fail_point::{FailPoint, Place};
use super::load::Load;
use super::node::{Kit, Node};
use super::reader::Reader;
use crate::check::{self, shown};
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::line::Line;
use crate::repository;

const USAGE: &str = "cargo xtask faults serve [--kills N] [--database sqlite|postgres|both] [--seed S]";

/// How often the program is killed on each database, as the promise names it.
const KILLS: usize = 500;

/// How it is started.
pub(super) const SERVE: [&str; 3] = ["serve", "--log-level", "warn"];

/// The variable that arms a fail point.
const VARIABLE: &str = "PUNCTUAL_FAIL_POINT";

/// How long a process lives at most until it passes the place at which it kills itself; else it is killed, and the place
/// has another turn.
const LIFE_MAX: Duration = Duration::from_millis(2_500);

/// The same for places that are passed seldom: only by a herd, which there is every ten seconds, or only when half of the
/// minute is over that is planned with a new schedule.
const LIFE_SELDOM_MAX: Duration = Duration::from_secs(25);

/// Moments of random kills, from the start of the process on: in its recovery, or at work.
const MOMENT_MAX: Duration = Duration::from_millis(1_500);

/// A lease is over after this.
const LEASE: Duration = Duration::from_millis(3_100);

/// How long a process is stopped, at most: longer than its lease lasts.
const STOPPED_MAX: Duration = Duration::from_millis(3_600);

/// How long all runs may take to end after the last kill: a worker that was killed is waited for that long.
const CLOSED_MAX: Duration = Duration::from_secs(60);

/// How long the program works without a fault before the end.
const PEACE: Duration = Duration::from_secs(3);

/// What is asked for.
struct Asked {
    kills: usize,
    databases: Vec<Database>,
    seed: u64,
}

impl Asked {
    fn read(arguments: &[String]) -> Result<Self, Failure> {
        let databases = vec![Database::Sqlite, Database::Postgres];
        let mut asked = Self { kills: KILLS, databases, seed: now_us() };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(Failure::new("a value is missing", USAGE)) };
            let number = || {
                let number = value.parse::<u64>();
                number.map_err(|_| Failure::new(format!("`{value}` is not a number"), USAGE))
            };
            match name.as_str() {
                "--kills" => asked.kills = usize::try_from(number()?).unwrap_or(KILLS).max(1),
                "--seed" => asked.seed = number()?,
                "--database" => asked.databases = Database::named(value, USAGE)?,
                _ => return Err(Failure::new(format!("`{name}` cannot be asked for"), USAGE)),
            }
        }
        Ok(asked)
    }
}

/// The command line.
pub(super) fn command(arguments: &[String]) -> Result<(), Failure> {
    let asked = Asked::read(arguments)?;
    let program = program()?;
    for database in &asked.databases {
        println!("{database}, {} kills, seed {}", asked.kills, asked.seed);
        kept(|folder| {
            on(*database, folder, |ground| {
                let tally = Series::begin(&program, ground, Dice::new(asked.seed))?.run(asked.kills)?;
                println!("{tally}");
                tally.judged()
            })
        })?;
    }
    Ok(())
}

/// Each place once on SQLite, for `check`, with the program that its tests have built.
pub(super) fn bounded() -> Result<String, Failure> {
    let program = check::program_of_tests()?;
    let mut summary = String::new();
    kept(|folder| {
        on(Database::Sqlite, folder, |ground| {
            let tally = Series::begin(&program, ground, Dice::new(now_us()))?.run(0)?;
            println!("{tally}");
            summary = tally.summary();
            tally.judged()
        })
    })?;
    Ok(summary)
}

/// The program with its fail points, and with the checks of a debug build. It is put aside: whatever is built meanwhile, it
/// stays the same.
pub(super) fn program() -> Result<PathBuf, Failure> {
    let words = ["cargo", "build", "--package", "punctual", "--bin", "punctual"];
    shown(&Line::new(words.into_iter().chain(["--features", "punctual/fail-points"])))?;
    put_aside("punctual")
}

/// Keeps the program that was just built under a name of its own.
pub(super) fn put_aside(name: &str) -> Result<PathBuf, Failure> {
    let target = repository::target_directory(&repository::root()?)?;
    let (folder, fresh) =
        (target.join("faults"), target.join(format!("faults/{name}.{}", std::process::id())));
    let aside = folder.join(name);
    // Renamed: somebody may be running the one before.
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::copy(target.join("debug/punctual"), &fresh))
        .and_then(|_| std::fs::rename(&fresh, &aside))
        .map_err(|error| Failure::new(format!("`{}`: {error}", aside.display()), "is there room?"))?;
    Ok(aside)
}

/// Works in a folder of its own, which is kept if something goes wrong.
pub(super) fn kept(work: impl FnOnce(&Path) -> Result<(), Failure>) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("punctual-faults-{}-{}", std::process::id(), now_us()));
    std::fs::create_dir(&folder).map_err(|error| Failure::new(format!("no folder: {error}"), USAGE))?;
    match work(&folder) {
        Ok(()) => std::fs::remove_dir_all(&folder).map_err(|error| Failure::new(error.to_string(), USAGE)),
        Err(failure) => {
            let hint = format!("notes, logs and database are kept in {}; {}", folder.display(), failure.hint);
            Err(Failure::new(failure.what, hint))
        }
    }
}

/// Where a database is.
pub(super) struct Ground<'a> {
    pub(super) database: Database,
    pub(super) folder: &'a Path,
    /// The private server, where there is one.
    pub(super) server: Option<&'a Server>,
}

impl Ground<'_> {
    /// An empty database of this name.
    fn fresh(&self, name: &str) -> Result<String, Failure> {
        let Some(server) = self.server else {
            return Ok(self.folder.join(format!("{name}.db")).display().to_string());
        };
        server.psql(&format!("CREATE DATABASE {name}"))?;
        Ok(server.url_of(name))
    }
}

/// Provides a database and works on it.
pub(super) fn on(
    database: Database,
    folder: &Path,
    work: impl FnOnce(&Ground<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    match database {
        Database::Sqlite => work(&Ground { database, folder, server: None }),
        Database::Postgres => {
            let server = Server::start()?;
            let worked = work(&Ground { database, folder, server: Some(&server) });
            // The server goes with us; what is in it stays for whoever wants to know.
            worked.inspect_err(|_| {
                if let Err(failure) = server.dump(&folder.join("server.sql")) {
                    println!("{failure}");
                }
            })
        }
    }
}

/// A series of kills on one database.
struct Series<'a> {
    ground: &'a Ground<'a>,
    load: Load,
    dice: Dice,
    tally: Tally,
}

impl<'a> Series<'a> {
    fn begin(program: &Path, ground: &'a Ground<'a>, dice: Dice) -> Result<Self, Failure> {
        let kit = Kit::new(program.to_owned(), ground.folder, ground.fresh("ledger")?);
        let load = Load::new(&kit)?;
        let first = Node::start(&load.kit, "serve")?;
        load.begin(ground.database)?;
        first.kill()?;
        let tally = Tally::new(ground.database);
        Ok(Self { ground, load, dice, tally })
    }

    /// Kills at least this often, and at least once at each place; then lets everything end, and judges all of it.
    fn run(mut self, kills: usize) -> Result<Tally, Failure> {
        while self.tally.kills() < kills || self.tally.is_any_untried() {
            let way = Way::next(&self.tally, &mut self.dice);
            let is_done = self.live_and_die(way)?;
            let what = format!("after kill {} ({way})", self.tally.kills() + 1);
            let found = self.load.reader.judge(None)?.sound(&what)?;
            match way {
                Way::Point { point, .. } if !is_done => self.tally.add_in_vain(point),
                _ => self.tally.add(way, &found),
            }
            if is_done && self.tally.kills().is_multiple_of(50) {
                println!("{:>6} kills, {} ticks", self.tally.kills(), found.ticks);
            }
        }
        self.end()
    }

    /// Starts a process, and lets it end in a way. Whether it did: it may not have come to its place.
    fn live_and_die(&mut self, way: Way) -> Result<bool, Failure> {
        match way {
            Way::Point { point, times } if point.place() == Place::Migrate => self.migrate(point, times),
            Way::Point { point, times } if point.place() == Place::Worker => self.kill_worker(point, times),
            Way::Point { point, times } => {
                match point {
                    // The worker writes into the same file, and would unfold them before the server does.
                    FailPoint::SheetUnfolding => self.load.dismiss()?,
                    _ => self.load.employ(&self.load.kit.clone()).map(|_| ())?,
                }
                self.rest(point);
                let armed = armed(&self.load.kit, point, times);
                let mut node = Node::spawn(&armed, "serve", &SERVE)?;
                let is_done = node.kills_itself_within(life_max(point))?;
                node.kill()?;
                Ok(is_done)
            }
            Way::Random => {
                self.load.employ(&self.load.kit.clone())?;
                let mut node = Node::spawn(&self.load.kit, "serve", &SERVE)?;
                let moment = self.dice.time(Duration::ZERO, MOMENT_MAX);
                refused(node.ends_within(moment)?, &self.load.kit)?;
                node.kill().map(|()| true)
            }
            Way::Stopped => {
                let mut node = Node::start(&self.load.kit, "serve")?;
                std::thread::sleep(self.dice.time(Duration::ZERO, MOMENT_MAX));
                node.stop()?;
                std::thread::sleep(self.dice.time(Duration::from_millis(50), STOPPED_MAX));
                node.go_on()?;
                refused(node.ends_within(self.dice.time(Duration::ZERO, MOMENT_MAX))?, &self.load.kit)?;
                node.kill().map(|()| true)
            }
        }
    }

    /// Where nodes are told apart by their leases, a start finds something to recover only when the last one is over.
    fn rest(&self, point: FailPoint) {
        let is_recovery = matches!(point, FailPoint::RecoverTaken | FailPoint::RecoverSettled);
        if is_recovery && self.ground.database == Database::Postgres {
            std::thread::sleep(LEASE);
        }
    }

    /// Kills a process that makes a new database; the next one makes it, whatever was left.
    fn migrate(&mut self, point: FailPoint, times: u64) -> Result<bool, Failure> {
        let name = format!("fresh_{}_{}", point.name(), self.tally.kills());
        let database = self.ground.fresh(&name)?;
        let kit = Kit { database, ..self.load.kit.clone() };
        let mut node = Node::spawn(&armed(&kit, point, times), "migrate", &SERVE)?;
        let is_done = node.kills_itself_within(LIFE_MAX)?;
        node.kill()?;
        Node::start(&kit, "migrate")?.leave()?;
        Reader::new(&kit.folder, &kit.database)?.judge(None)?.sound("in a database that was made anew")?;
        Ok(is_done)
    }

    /// Kills a worker while a server goes on, and then that.
    fn kill_worker(&mut self, point: FailPoint, times: u64) -> Result<bool, Failure> {
        self.load.dismiss()?;
        let node = Node::start(&self.load.kit, "serve")?;
        let armed = armed(&self.load.kit, point, times);
        let is_done = self.load.employ(&armed)?.kills_itself_within(LIFE_MAX * 3)?;
        self.load.dismiss()?;
        node.kill().map(|()| is_done)
    }

    /// Lets the program work in peace for a moment, waits until everything has ended, and judges it.
    fn end(mut self) -> Result<Tally, Failure> {
        self.load.employ(&self.load.kit.clone())?;
        let node = Node::start(&self.load.kit, "serve")?;
        std::thread::sleep(PEACE);
        let through = i64::try_from(now_us() / 1_000_000).unwrap_or(i64::MAX);
        let found = self.load.reader.judge_when_closed(through, CLOSED_MAX)?;
        let found = found.sound("at the end").inspect_err(|_| println!("{}", self.tally))?;
        node.leave()?;
        self.load.dismiss()?;
        let tried = self.load.reader.tried(None)?;
        Ok(self.tally.end(found, tried))
    }
}

fn armed(kit: &Kit, point: FailPoint, times: u64) -> Kit {
    kit.with(VARIABLE, format!("{}:{times}", point.name()))
}

fn life_max(point: FailPoint) -> Duration {
    match point {
        FailPoint::PlanBeforeCommit
        | FailPoint::PlanAfterCommit
        | FailPoint::HeldBeforeInstant
        | FailPoint::AheadBeforeCommit
        | FailPoint::AheadAfterCommit
        | FailPoint::SheetUnfolding => LIFE_SELDOM_MAX,
        _ => LIFE_MAX,
    }
}

/// A process that nobody has told to end does not.
fn refused(ended: Option<std::process::ExitStatus>, kit: &Kit) -> Result<(), Failure> {
    match ended {
        None => Ok(()),
        Some(status) => {
            let said = kit.log("serve");
            let last: Vec<&str> = said.lines().rev().take(5).collect();
            Err(Failure::new(format!("the program ended with {status}: {}", last.join("\n")), "see its log"))
        }
    }
}

pub(super) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        let read = |line: &str| Asked::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let asked = read("--kills 7 --database postgres --seed 9").expect("it can be asked for");
        assert_eq!((asked.kills, &asked.databases[..], asked.seed), (7, &[Database::Postgres][..], 9));
        for line in ["--kills", "--kills x", "--database oracle", "--pace 3"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
