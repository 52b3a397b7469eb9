//! `cargo xtask faults nodes`: real nodes on one PostgreSQL under load, to which everything happens that can.
//!
//! Start with [`measure`]. One is killed, another joins, one is stopped for longer than its lease lasts and goes on, one
//! comes whose clock is wrong, one leaves; at the end `ledger_reader.py` accounts for every tick.

mod story;
mod table;
mod watch;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use self::story::Story;
use self::table::Table;
use super::node::Kit;
use super::reader::Reader;
use super::receiver::{DUE_HEADER, Receiver};
use crate::failure::Failure;
use crate::ground::postgres::Server;
use crate::{ground, release};

const USAGE: &str = "cargo xtask faults nodes [--nodes 2|3] [--rate 2000] [--seconds N] [--seed S]";

/// Each schedule ticks this often, at one of as many phases.
const PERIOD: u32 = 5;

/// Of the ticks of a second, one in so many calls the web and is in flight for a second; the others write a message.
const WEB_SHARE: u32 = 40;

/// How long a request takes: runs of a node that dies are in flight then.
const WORK: Duration = Duration::from_secs(1);

/// How long the nodes have to find their pace before anything happens.
const SETTLE: Duration = Duration::from_secs(12);

/// What is due in the last seconds may still run when the nodes are asked to leave.
const TAIL_S: i64 = 3;

/// What is asked for.
struct Asked {
    nodes: usize,
    rate: u32,
    seconds: u64,
    seed: u64,
}

/// The command line.
pub(super) fn command(arguments: &[String]) -> Result<(), Failure> {
    let asked = Asked::read(arguments)?;
    let program = release::program()?;
    let folder = std::env::temp_dir().join(format!("punctual-nodes-{}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| Failure::new(format!("no folder: {error}"), USAGE))?;
    let server = Server::start()?;
    let kit = Kit::new(program, &folder, server.url());
    println!(
        "{} nodes, {} ticks a second, seed {}, in {}",
        asked.nodes,
        asked.rate,
        asked.seed,
        folder.display()
    );
    match measure(&asked, &kit, &server) {
        Ok(table) => {
            println!("{table}");
            std::fs::remove_dir_all(&folder).map_err(|error| Failure::new(error.to_string(), USAGE))?;
            table.judged()
        }
        Err(failure) => {
            let hint = format!("notes and logs are kept in {}; {}", folder.display(), failure.hint);
            Err(Failure::new(failure.what, hint))
        }
    }
}

impl Asked {
    fn read(arguments: &[String]) -> Result<Self, Failure> {
        let seed = story::now().to_bits();
        let mut asked = Self { nodes: 3, rate: 2_000, seconds: 100, seed };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(Failure::new("a value is missing", USAGE)) };
            let number: u64 =
                value.parse().map_err(|_| Failure::new(format!("`{value}` is not a number"), USAGE))?;
            match (name.as_str(), number) {
                ("--nodes", 2 | 3) => asked.nodes = usize::try_from(number).unwrap_or(3),
                ("--rate", 1..=100_000) => asked.rate = u32::try_from(number).unwrap_or(2_000),
                ("--seconds", _) => asked.seconds = number,
                ("--seed", _) => asked.seed = number,
                _ => return Err(Failure::new(format!("`{name} {value}` cannot be asked for"), USAGE)),
            }
        }
        Ok(asked)
    }
}

fn measure(asked: &Asked, kit: &Kit, server: &Server) -> Result<Table, Failure> {
    let library = ground::faketime()?;
    let receiver = Receiver::start(WORK, None)?;
    let mut story = Story::begin(kit.clone(), server, asked.nodes)?.with(asked.seed, library);
    let file = kit.folder.join("schedules.yaml");
    std::fs::write(&file, schedules(asked.rate, receiver.port))
        .map_err(|error| Failure::new(error.to_string(), USAGE))?;
    kit.ask(&["apply", &file.display().to_string()])?;
    std::thread::sleep(SETTLE);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(asked.seconds) || story.scenes.is_empty() {
        story.round()?;
    }
    let through = story::now() as i64 - TAIL_S;
    story.end()?;
    let reader = Reader::new(&kit.folder, &kit.database)?.with_events(&story.notes());
    let found = reader.judge(Some(through))?;
    let tested = if found.is_sound() { Some(reader.tried(Some(through))?) } else { None };
    let scenes = std::mem::take(&mut story.scenes);
    Ok(Table { scenes, found, tested, requests: receiver.requests(), earliest_ms: receiver.earliest_ms() })
}

/// As many schedules as have so many ticks a second, spread over the seconds; their names say when they tick.
fn schedules(rate: u32, port: u16) -> String {
    let mut text = "schedules:\n".to_owned();
    for number in 0..rate * PERIOD {
        let phase = number % PERIOD;
        let cron = format!("cron: \"{phase}-59/{PERIOD} * * * * *\"");
        let (kind, target) = if (number / PERIOD).is_multiple_of(WEB_SHARE) {
            let header = format!("headers: {{{DUE_HEADER}: \"{{{{ scheduled_for }}}}\"}}");
            ("w", format!("{{type: webhook, url: \"http://127.0.0.1:{port}/\", {header}}}"))
        } else {
            ("m", "{type: message, message: {text: tick}}".to_owned())
        };
        let name = format!("{kind}-{PERIOD}-{phase}-{number:06}");
        // Writing into a String cannot fail.
        let _ = writeln!(text, "  - {{name: {name}, {cron}, target: {target}}}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedules_have_as_many_ticks_a_second_as_asked_for() {
        let text = schedules(80, 7);
        assert_eq!(text.lines().count(), 1 + 400);
        assert_eq!(text.lines().filter(|line| line.contains("name: w-")).count(), 10);
        assert!(
            text.contains("- {name: m-5-3-000008, cron: \"3-59/5 * * * * *\", target: {type: message"),
            "{text}"
        );
        assert!(text.contains("headers: {x-due: \"{{ scheduled_for }}\"}"), "{text}");
    }

    #[test]
    fn what_cannot_be_asked_for_is_refused() {
        let read = |line: &str| Asked::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let asked = read("--nodes 2 --rate 500 --seconds 7 --seed 9").expect("it can be asked for");
        assert_eq!((asked.nodes, asked.rate, asked.seconds, asked.seed), (2, 500, 7, 9));
        for line in ["--nodes 1", "--nodes", "--rate 0", "--pace 3", "--seed x"] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
