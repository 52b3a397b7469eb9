//! Goal: no key of the schema is read and ignored: each changes what becomes of ticks.
//! Method: a table of small files, each with a world that lets one key count. The key is removed, both files are tried,
//! and the ledgers must differ: the runs, the stretches, the log, or what the runs carry. Policies and specs themselves
//! are not compared, only what they do. The schema is enumerated, so a new key needs a new row.

#[path = "../keys/mod.rs"]
mod keys;
mod shared;
mod tried;
mod whole;

use std::collections::BTreeSet;

use punctual::declare;
use serde_json::Value;

use keys::{Key, keys_of, schema_keys, without};
use tried::{Outcome, outcome};

/// A file in which a key counts, and the world in which it does.
struct Scenario {
    key: Key,
    /// Where the key is; anywhere, if none.
    path: Option<String>,
    file: Value,
    world: String,
}

/// Keys that do nothing but refuse.
const REFUSING: [(&str, &str); 2] = [("Settings", "min_interval"), ("Limits", "schedules")];

/// Keys that say how long rows are kept and how the server logs: no tick hangs on them, and the tests of a running server
/// see them take effect.
const OF_THE_SERVER: [&str; 11] = [
    "keep_runs",
    "keep_runs_per_schedule",
    "keep_failures",
    "keep_audit",
    "log_level",
    "log_format",
    "listen",
    "http_programs",
    "metrics_access",
    "allow_private_targets",
    "webhook_proxy",
];

/// Whether a file cannot be meant without a key though the schema does not require it by itself: it is one of the ways
/// to say when, a target, what fills a template, or a section whose names others use.
fn is_needed((part, key): &Key) -> bool {
    match part.as_str() {
        "Schedule" if key == "set" => true,
        "Schedule" | "Template" | "PluginSchedule" => {
            ["every", "cron", "at", "after", "on", "schedule", "target"].contains(&key.as_str())
        }
        // One of the two says who executes.
        "ExecutorForm" => ["argv", "url"].contains(&key.as_str()),
        // Each of the two means nothing alone.
        "TargetForm/webhook" => ["client_certificate", "client_key"].contains(&key.as_str()),
        "File" => ["quiet_hours", "calendars", "templates", "targets"].contains(&key.as_str()),
        _ => false,
    }
}

/// Whether the schema wants a key wherever its part stands.
fn is_required((part, key): &Key) -> bool {
    let schema = declare::schema();
    let (name, kind) = part.split_once('/').map_or((part.as_str(), None), |(name, kind)| (name, Some(kind)));
    let mut def = &schema["$defs"][name];
    if let Some(kind) = kind {
        let variants = def["oneOf"].as_array().expect("variants");
        let found = variants.iter().find(|variant| variant["properties"]["type"]["const"] == kind);
        def = found.expect("a variant");
    }
    def["required"].as_array().is_some_and(|required| required.iter().any(|required| required == key))
}

/// Whether a key counts in a scenario; if not, why.
fn counts(scenario: &Scenario) -> Result<(), String> {
    let key = &scenario.key;
    let with = outcome(&scenario.file, &scenario.world);
    let found = keys_of(&scenario.file)
        .into_iter()
        .filter(|(found, path)| found == key && scenario.path.as_ref().is_none_or(|wanted| wanted == path));
    let paths: Vec<String> = found.map(|(_, path)| path).collect();
    let path = paths.first().ok_or("the file does not have it")?;
    let less = outcome(&without(&scenario.file, path), &scenario.world);
    match (with, less) {
        (Outcome::Ledger { text, .. }, Outcome::Ledger { text: less, .. }) if text != less => Ok(()),
        (Outcome::Ledger { .. }, Outcome::Ledger { .. }) => {
            Err("the ledger is the same without it".to_owned())
        }
        (Outcome::Ledger { runs: 0, .. }, Outcome::Refused(_)) => Err("nothing runs with it".to_owned()),
        (Outcome::Ledger { .. }, Outcome::Refused(_)) if is_required(key) || is_needed(key) => Ok(()),
        (Outcome::Ledger { .. }, Outcome::Refused(said)) => {
            Err(format!("without it the file is refused:\n{said}"))
        }
        (Outcome::Refused(said), Outcome::Ledger { .. })
            if REFUSING.contains(&(&key.0, &key.1)) && said.contains(&key.1) =>
        {
            Ok(())
        }
        (Outcome::Refused(said), _) => Err(format!("the file is refused:\n{said}")),
    }
}

#[test]
fn removing_any_key_changes_some_ledger() {
    let mut unshown = BTreeSet::new();
    schema_keys(declare::schema(), &mut unshown);
    assert!(unshown.len() > 150, "{} keys are too few to be all", unshown.len());
    let mut wrong = String::new();
    for scenario in shared::scenarios().into_iter().chain(whole::scenarios()) {
        let (part, key) = &scenario.key;
        if let Err(why) = counts(&scenario) {
            wrong += &format!("{part}.{key}: {why}\n");
        }
        unshown.remove(&scenario.key);
    }
    unshown.retain(|(part, key)| part != "Settings" || !OF_THE_SERVER.contains(&key.as_str()));
    for (part, key) in unshown {
        wrong += &format!("{part}.{key}: no scenario shows what it does\n");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
