//! Goal: whatever rule of the ledger is taken out, somebody notices within a minute. Method: each rule is taken out in
//! turn; the story or scene that `docs/reliability.md` names for it is told, or the behaviour of the suite tried, and must fail;
//! if it does not any more, others are asked. `BLESS=1` writes the page's table. What no store in memory keeps has tests
//! elsewhere, which the page names as well; `cargo xtask sim --eyes` asks them after these.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual_plan::rule::{Rule, take_out};
use punctual_sim::{Keeping, Measure, SCENES, Scene, Story, story, tell};
use punctual_store::Memory;
use punctual_store::conformance::{self, Backend};

/// How many editions of each scene are told.
const EDITIONS: u64 = 4;

/// How long it may take until somebody notices.
const PATIENCE: Duration = Duration::from_secs(60);

struct InMemory;

impl Backend for InMemory {
    type Store = Memory;

    async fn open(&self) -> Memory {
        Memory::new()
    }

    async fn second(&self, first: &Memory) -> Memory {
        first.clone()
    }
}

/// A behaviour of the suite by its name.
struct Behaviour {
    name: &'static str,
    try_it: fn(),
}

macro_rules! listed {
    ($backend:expr; $($group:ident { $($name:ident,)+ })+) => {
        &[$($(Behaviour {
            name: concat!(stringify!($group), "::", stringify!($name)),
            try_it: || tried(conformance::$group::$name(&$backend)),
        },)+)+]
    };
}

/// Every behaviour that all stores have.
static SUITE: &[Behaviour] = punctual_store::behaviours!([listed] InMemory);

fn tried(behaviour: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::time::timeout(PATIENCE, behaviour).await.expect("it comes to an end") });
}

/// Who is asked whether a rule is out.
enum Witness {
    /// One story, known from the page.
    Story(u64),
    /// One edition of a scene, known from the page.
    Scene(String, u64),
    /// One behaviour of the suite, known from the page.
    Behaviour(String),
    /// A test of a file, a process or a database, as the page has it: `cargo xtask sim --eyes` asks it.
    Elsewhere(String),
}

impl Witness {
    /// Who noticed that a rule is out, in words; none if nobody did.
    fn noticed(&self) -> Option<String> {
        match self {
            Self::Story(seed) => by_stories(*seed..*seed + 1),
            Self::Scene(name, seed) => by_scenes(*seed..*seed + 1, |scene| scene.name == name),
            Self::Behaviour(name) => by_the_suite(|behaviour| behaviour.name == name),
            Self::Elsewhere(test) => Some(test.clone()),
        }
    }
}

/// Stories one after the other, then the scenes, then the whole suite.
fn anybody() -> Option<String> {
    by_stories(0..u64::MAX).or_else(|| by_scenes(0..EDITIONS, |_| true)).or_else(|| by_the_suite(|_| true))
}

fn by_stories(seeds: impl Iterator<Item = u64>) -> Option<String> {
    let until = Instant::now() + PATIENCE / 2;
    for seed in seeds {
        if let Some(first) = broken(&story(seed, Keeping::Memory, Measure::Usual)) {
            return Some(format!("seed {seed}: {first}"));
        }
        if Instant::now() >= until {
            break;
        }
    }
    None
}

fn by_scenes(seeds: std::ops::Range<u64>, is_asked: impl Fn(&Scene) -> bool) -> Option<String> {
    for seed in seeds {
        for scene in SCENES.iter().filter(|scene| is_asked(scene)) {
            if let Some(first) = broken(&scene.of(seed)) {
                return Some(format!("scene `{}` {seed}: {first}", scene.name));
            }
        }
    }
    None
}

/// The first promise that a story breaks.
fn broken(story: &Story) -> Option<String> {
    tell(story).broken.first().map(|first| sentence(first))
}

fn by_the_suite(is_asked: impl Fn(&Behaviour) -> bool) -> Option<String> {
    let fails =
        |behaviour: &&Behaviour| std::panic::catch_unwind(AssertUnwindSafe(behaviour.try_it)).is_err();
    let noticed = SUITE.iter().filter(|behaviour| is_asked(behaviour)).find(fails)?;
    Some(format!("the suite: `{}`", noticed.name))
}

/// What a complaint says, without its time and its numbers of runs.
fn sentence(complaint: &str) -> String {
    let said = complaint.split_once("): ").map_or(complaint, |(_, said)| said);
    let said = said.split(" (run-").next().unwrap_or(said);
    said.chars().take(100).collect()
}

#[test]
fn every_scene_keeps_the_promises_where_no_rule_is_out() {
    assert_eq!(by_scenes(0..EDITIONS, |_| true), None);
}

#[test]
fn whatever_rule_is_taken_out_somebody_notices() {
    let page = Page::read();
    let is_blessed = std::env::var_os("BLESS").is_some();
    let known = page.witnesses();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; Rule::ALL.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(rule) = Rule::ALL.get(place) else { return };
                    take_out(Some(*rule));
                    let who = known.get(rule.name()).and_then(Witness::noticed);
                    let who = who.or_else(anybody);
                    take_out(None);
                    found.lock().expect("nobody panics with it")[place] = who;
                }
            });
        }
    });
    let found = found.into_inner().expect("nobody panics with it");
    let table = table(&found);
    if is_blessed {
        page.write(&table);
    }
    let unseen: Vec<&str> =
        Rule::ALL.iter().zip(&found).filter(|(_, who)| who.is_none()).map(|(rule, _)| rule.name()).collect();
    assert!(unseen.is_empty(), "nobody noticed that these are out: {}", unseen.join(", "));
    let named = known.len();
    assert!(is_blessed || named == Rule::ALL.len(), "the page names a witness for {named} rules; bless it");
}

fn table(found: &[Option<String>]) -> String {
    let mut text = "| rule taken out | noticed by |\n| --- | --- |\n".to_owned();
    for (rule, who) in Rule::ALL.iter().zip(found) {
        let who = who.as_deref().unwrap_or("nobody");
        // Writing into a String cannot fail.
        let _ = writeln!(text, "| `{}` | {} |", rule.name(), who.replace('|', "/"));
    }
    text
}

/// The page has the table between two marks.
struct Page {
    before: String,
    table: String,
    after: String,
}

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reliability.md");

impl Page {
    fn read() -> Self {
        let page = std::fs::read_to_string(PATH).expect("the page is there");
        let (before, rest) = page.split_once("<!-- eyes -->\n").expect("the page has the mark");
        let (table, after) = rest.split_once("<!-- /eyes -->").expect("the page has the second mark");
        Self { before: before.to_owned(), table: table.to_owned(), after: after.to_owned() }
    }

    /// Who notices each rule.
    fn witnesses(&self) -> HashMap<String, Witness> {
        let witness = |line: &str| {
            let (rule, who) = line.strip_prefix("| `")?.split_once("` | ")?;
            let behaviour = |name: &str| Some(Witness::Behaviour(name.split_once('`')?.0.to_owned()));
            let story = |seed: &str| Some(Witness::Story(seed.split_once(':')?.0.parse().ok()?));
            let scene = |who: &str| {
                let (name, rest) = who.split_once("` ")?;
                Some(Witness::Scene(name.to_owned(), rest.split_once(':')?.0.parse().ok()?))
            };
            let witness = match (who.strip_prefix("the suite: `"), who.strip_prefix("scene `")) {
                (Some(name), _) => behaviour(name)?,
                (_, Some(who)) => scene(who)?,
                _ if who.starts_with('`') => Witness::Elsewhere(who.strip_suffix(" |")?.to_owned()),
                _ => story(who.strip_prefix("seed ")?)?,
            };
            Some((rule.to_owned(), witness))
        };
        self.table.lines().filter_map(witness).collect()
    }

    fn write(&self, table: &str) {
        let blessed = format!("{}<!-- eyes -->\n{table}<!-- /eyes -->{}", self.before, self.after);
        std::fs::write(PATH, blessed).expect("it can be written");
    }
}
