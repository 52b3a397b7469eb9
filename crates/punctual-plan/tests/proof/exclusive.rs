//! Promise 13 by the attempts alone: who starts where only one may be in flight finds nobody there.

use std::collections::BTreeMap;

use jiff::Timestamp;
use punctual_plan::{Account, Origin, Run, Simulated};

/// An attempt and what it needs for itself.
struct Flight<'a> {
    account: &'a Account,
    run: &'a Run,
    from: Timestamp,
    to: Timestamp,
}

impl Flight<'_> {
    /// What only one may hold when this attempt starts.
    fn keys(&self) -> Vec<String> {
        let policy = &self.account.version_at(self.from).schedule.policy;
        let mut keys: Vec<String> = policy.guard.iter().map(|guard| format!("guard {guard}")).collect();
        // A person may force a run beside others; a forced one says so in its nonce.
        let is_forced = self.run.origin == Origin::Manual && self.run.nonce.starts_with("force");
        if policy.overlap.is_exclusive() && !is_forced {
            let own = format!("schedule {}", self.account.key.0);
            keys.push(policy.lane.as_ref().map_or(own, |lane| format!("lane {lane}")));
        }
        keys
    }
}

/// Sweeps through the starts of each key.
pub(super) fn check(simulated: &Simulated, broken: &mut Vec<String>) {
    let mut by_key: BTreeMap<String, Vec<Flight<'_>>> = BTreeMap::new();
    for account in &simulated.accounts {
        for run in &account.runs {
            for attempt in &run.attempts {
                let to = attempt.ended_at.unwrap_or(Timestamp::MAX);
                let flight = || Flight { account, run, from: attempt.started_at, to };
                for key in flight().keys() {
                    by_key.entry(key).or_default().push(flight());
                }
            }
        }
    }
    for (key, mut flights) in by_key {
        flights.sort_by_key(|flight| (flight.from, flight.to));
        for pair in flights.windows(2).filter(|pair| pair[0].to > pair[1].from) {
            broken.push(format!(
                "13: {} starts at {} while {} holds {key} until {}",
                pair[1].run.key, pair[1].from, pair[0].run.key, pair[0].to
            ));
        }
    }
}
