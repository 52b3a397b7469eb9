//! Goal: whatever rule of the ledger is taken out, somebody notices within a minute. Method: each rule is taken out in
//! turn; the story that `docs/reliability.md` names for it is told, or the behaviour of the suite that guards it is tried,
//! and must fail as the page says. `BLESS=1` looks for stories anew and writes the page's table.

use std::collections::HashMap;
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

/// The rules that no story can see broken, and the behaviour that does: a person's change is one moment in a story,
/// every node of it has the same rules of the zones, and there is one org in it, without limits.
fn guarded_by_the_suite(rule: Rule) -> Option<Behaviour> {
    Some(match rule {
        Rule::ChangeGuard => behaviour!(race::an_edit_and_a_plan_do_not_both_count),
        Rule::OlderRulesDoNotPlan => behaviour!(node::an_older_tz_database_does_not_plan),
        Rule::FirstWindow => behaviour!(plan::a_created_schedule_has_its_first_window_armed),
        Rule::BackfillBeside => behaviour!(change::a_backfill_stands_beside_the_tick),
        Rule::NoLostWake => behaviour!(race::a_wait_for_what_has_ended_is_due_at_once),
        Rule::ProbeClaim => behaviour!(claim::a_probe_is_not_taken_twice),
        Rule::PlaceClaim => behaviour!(claim::a_place_under_a_limit_is_not_taken_twice),
        Rule::TurnsByOrg => behaviour!(admit::due_rows_are_taken_in_turns_by_org),
        Rule::OneBadRow => behaviour!(admit::one_bad_row_never_fails_a_batch),
        Rule::MessageWithAdmission => behaviour!(admit::a_message_is_written_with_its_admission),
        Rule::FailedUpstream => behaviour!(admit::a_failed_upstream_ends_the_wait),
        Rule::RetryKeepsItsTurn => behaviour!(effect::a_retry_keeps_its_turn_in_a_queue),
        Rule::RightQueue => behaviour!(queue::a_worker_takes_from_its_own_queue),
        Rule::LateSuccess => behaviour!(settle::a_late_success_of_an_older_attempt_closes_the_run),
        Rule::TokenOfTheAttempt => behaviour!(executor::each_attempt_has_a_token_of_its_own),
        Rule::TakenIsNotInDoubt => {
            behaviour!(executor::a_run_that_an_executor_has_taken_is_not_in_doubt)
        }
        Rule::UnsealedStay => behaviour!(keep::only_sealed_events_are_removed),
        Rule::OrgsApart => behaviour!(isolation::lists_show_nothing_of_another_org),
        _ => return None,
    })
}

/// Who noticed that a rule is out, in words; none if nobody did.
fn noticed(rule: Rule, seeds: impl Iterator<Item = u64>) -> Option<String> {
    if let Some(behaviour) = guarded_by_the_suite(rule) {
        let went_well = std::panic::catch_unwind(AssertUnwindSafe(behaviour.try_it)).is_ok();
        return (!went_well).then(|| format!("the suite: `{}`", behaviour.name));
    }
    let until = Instant::now() + PATIENCE;
    for seed in seeds {
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
    let page = Page::read();
    let is_blessed = std::env::var_os("BLESS").is_some();
    let seeds = if is_blessed { HashMap::new() } else { page.seeds() };
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; Rule::ALL.len()]));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(rule) = Rule::ALL.get(place) else { return };
                    take_out(Some(*rule));
                    let known = seeds.get(rule.name()).copied();
                    let who = noticed(*rule, known.unwrap_or(0)..known.map_or(u64::MAX, |seed| seed + 1));
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
    assert!(is_blessed || page.table == table, "the page says:\n{}\nseen was:\n{table}", page.table);
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

    /// The story of each rule.
    fn seeds(&self) -> HashMap<String, u64> {
        let seed = |line: &str| {
            let (rule, who) = line.strip_prefix("| `")?.split_once("` | seed ")?;
            Some((rule.to_owned(), who.split_once(':')?.0.parse().ok()?))
        };
        self.table.lines().filter_map(seed).collect()
    }

    fn write(&self, table: &str) {
        let blessed = format!("{}<!-- eyes -->\n{table}<!-- /eyes -->{}", self.before, self.after);
        std::fs::write(PATH, blessed).expect("it can be written");
    }
}
