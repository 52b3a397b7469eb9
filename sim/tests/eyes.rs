//! Goal: whatever rule of the ledger is taken out, somebody notices within a minute. Method: each rule is taken out in
//! turn; stories are told until one breaks a promise, or the behaviour of the suite that guards the rule is tried. The
//! table in `docs/reliability.md` is what comes out.

use std::fmt::Write as _;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use punctual_plan::rule::{Rule, take_out};
use punctual_sim::{Keeping, Measure, story, tell};
use punctual_store::Memory;
use punctual_store::conformance::{self, Backend};

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

macro_rules! behaviour {
    ($group:ident::$name:ident) => {
        Behaviour {
            name: concat!(stringify!($group), "::", stringify!($name)),
            try_it: || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.expect("a runtime").block_on(conformance::$group::$name(&InMemory));
            },
        }
    };
}

/// The rules that no story can see broken, and the behaviour that does: a person's change is one moment in a story, and
/// every node of it has the same rules of the zones.
fn guarded_by_the_suite(rule: Rule) -> Option<Behaviour> {
    Some(match rule {
        Rule::ChangeGuard => behaviour!(race::an_edit_and_a_plan_do_not_both_count),
        Rule::OlderRulesDoNotPlan => behaviour!(node::an_older_tz_database_does_not_plan),
        _ => return None,
    })
}

/// Who noticed that a rule is out, in words; none if nobody did.
fn noticed(rule: Rule) -> Option<String> {
    if let Some(behaviour) = guarded_by_the_suite(rule) {
        let went_well = std::panic::catch_unwind(AssertUnwindSafe(behaviour.try_it)).is_ok();
        return (!went_well).then(|| format!("the suite: `{}`", behaviour.name));
    }
    let until = Instant::now() + PATIENCE;
    for seed in 0.. {
        let told = tell(&story(seed, Keeping::Memory, Measure::Usual));
        if let Some(first) = told.broken.first() {
            return Some(format!("seed {seed}: {}", sentence(first)));
        }
        if Instant::now() >= until {
            break;
        }
    }
    None
}

/// What a complaint says, without its time and its numbers of runs.
fn sentence(complaint: &str) -> String {
    let said = complaint.split_once("): ").map_or(complaint, |(_, said)| said);
    let said = said.split(" (run-").next().unwrap_or(said);
    said.chars().take(100).collect()
}

#[test]
fn whatever_rule_is_taken_out_somebody_notices() {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; Rule::ALL.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(rule) = Rule::ALL.get(place) else { return };
                    take_out(Some(*rule));
                    let who = noticed(*rule);
                    take_out(None);
                    found.lock().expect("nobody panics with it")[place] = who;
                }
            });
        }
    });
    let found = found.into_inner().expect("nobody panics with it");
    let unseen: Vec<&str> =
        Rule::ALL.iter().zip(&found).filter(|(_, who)| who.is_none()).map(|(rule, _)| rule.name()).collect();
    assert!(unseen.is_empty(), "nobody noticed that these are out: {}", unseen.join(", "));
    compare(&table(&found));
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

/// The page has the table between two marks; `BLESS=1` writes it there.
fn compare(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reliability.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let (before, rest) = page.split_once("<!-- eyes -->\n").expect("the page has the mark");
    let (shown, after) = rest.split_once("<!-- /eyes -->").expect("the page has the second mark");
    if std::env::var_os("BLESS").is_some() {
        let blessed = format!("{before}<!-- eyes -->\n{table}<!-- /eyes -->{after}");
        std::fs::write(path, blessed).expect("it can be written");
        return;
    }
    assert_eq!(shown, table, "`BLESS=1` writes the table anew");
}
