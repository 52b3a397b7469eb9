//! What was measured and found, as a table, and whether it is as promised.

use std::fmt;

use super::super::reader::{Event, Found};
use super::story::Scene;
use crate::failure::Failure;

/// How late a tick of a node that is gone may be.
const LATE_MS_MAX: f64 = 2_000.0;

/// How long its admitted runs may wait until somebody takes them up.
const TAKEN_S_MAX: f64 = 5.0;

/// How late the ticks of the nodes were that were lost, one after the other.
fn lates(found: &Found) -> Vec<f64> {
    let is_lost = |event: &&Event| ["kill", "stop"].contains(&event.event.as_str());
    found.events.iter().filter(is_lost).map(|event| event.late_ms).collect()
}

/// All of it.
pub(super) struct Table {
    pub(super) scenes: Vec<Scene>,
    pub(super) found: Found,
    /// What the reader found when rows were altered.
    pub(super) tested: Option<String>,
    pub(super) requests: u64,
    pub(super) earliest_ms: f64,
}

impl Table {
    /// How late the ticks of each lost node were, beside its scene.
    fn lates(&self) -> Vec<Option<f64>> {
        let mut lates = lates(&self.found).into_iter();
        let late = |scene: &Scene| scene.left.as_ref().and_then(|_| lates.next());
        self.scenes.iter().map(late).collect()
    }

    /// Refuses what was not promised.
    pub(super) fn judged(&self) -> Result<(), Failure> {
        let mut broken = self.found.problems.clone();
        for (scene, late) in self.scenes.iter().zip(self.lates()) {
            let who = format!("{} of {}", scene.event, scene.node);
            if late.is_some_and(|late| late > LATE_MS_MAX) {
                broken.push(format!("{who}: ticks were {:.0} ms late", late.unwrap_or_default()));
            }
            let took = scene.left.map_or(0.0, |left| left.taken_up.as_secs_f64());
            if took > TAKEN_S_MAX {
                broken.push(format!("{who}: its runs were taken up after {took:.1} s"));
            }
            if scene.refused == Some(0) {
                broken.push(format!("{who}: nothing was refused, so nothing was proved"));
            }
            if !scene.is_even {
                broken.push(format!("{who}: the shards were {} after five seconds", scene.shares));
            }
        }
        if self.earliest_ms < 0.0 {
            broken.push(format!("a request came {:.1} ms before its tick", -self.earliest_ms));
        }
        match broken.is_empty() {
            true => Ok(()),
            false => Err(Failure::new(broken.join("\n  "), "run again with the same --seed")),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| | node | ticks late at most | left in flight | taken up after | refused | shards after 5 s |"
        )?;
        writeln!(f, "| --- | --- | ---: | ---: | ---: | ---: | --- |")?;
        for (scene, late) in self.scenes.iter().zip(self.lates()) {
            let late = late.map_or_else(String::new, |late| format!("{late:.0} ms"));
            let left = scene.left.map_or_else(String::new, |left| left.runs.to_string());
            let took =
                scene.left.map_or_else(String::new, |left| format!("{:.1} s", left.taken_up.as_secs_f64()));
            let refused = scene.refused.map_or_else(String::new, |refused| refused.to_string());
            let shares = format!("{}{}", scene.shares, if scene.is_even { "" } else { " UNEVEN" });
            writeln!(
                f,
                "| {} | {} | {late} | {left} | {took} | {refused} | {shares} |",
                scene.event, scene.node
            )?;
        }
        let found = &self.found;
        writeln!(
            f,
            "\n{:>10} ticks, {} lost, {} doubled, {} not closed",
            found.ticks, found.lost, found.doubled, found.open
        )?;
        writeln!(f, "{:>10} writes of a node that had been stopped counted", found.stale_counted)?;
        writeln!(f, "{:>10} {}", "", found.ends())?;
        let lateness = found.lateness.iter().map(|(name, late)| format!("{name} {late}"));
        writeln!(f, "{:>10} lateness of all ticks: {}", "", lateness.collect::<Vec<_>>().join(", "))?;
        writeln!(
            f,
            "{:>10} requests, none sooner than {:.1} ms after its tick",
            self.requests, self.earliest_ms
        )?;
        match &self.tested {
            Some(tested) => write!(f, "{:>10} {tested}", ""),
            None => write!(f, "{:>10} problems", found.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::story::Left;
    use super::*;

    fn table(late_ms: f64, took_s: u64, refused: u64) -> Table {
        let said = format!(
            r#"{{"problems":[],"count":0,"ticks":9,"lost":0,"doubled":0,"open":0,"starts":0,"repeated":0,"stale_counted":0,"ends":{{"success":9}},
            "lateness":{{}},"events":[{{"event":"stop","late_ms":{late_ms},"held":1}},{{"event":"continue","late_ms":0,"held":0}}]}}"#
        );
        let node = || "node-1".to_owned();
        let shares = || "128+128".to_owned();
        let stop = Scene {
            event: "SIGSTOP",
            node: node(),
            left: Some(Left { runs: 1, taken_up: Duration::from_secs(took_s) }),
            shares: shares(),
            is_even: true,
            ..Scene::default()
        };
        let go_on = Scene {
            event: "SIGCONT",
            node: node(),
            refused: Some(refused),
            shares: shares(),
            is_even: true,
            ..Scene::default()
        };
        let found = Found::read(&said).expect("it is what the reader prints");
        Table { scenes: vec![stop, go_on], found, tested: None, requests: 3, earliest_ms: 0.5 }
    }

    #[test]
    fn what_was_not_promised_is_refused() {
        let check = |table: Table, expected: &str| {
            assert_eq!(table.judged().map_or_else(|failure| failure.what, |()| "well".to_owned()), expected);
        };
        check(table(1_900.0, 4, 3), "well");
        check(table(2_100.0, 4, 3), "SIGSTOP of node-1: ticks were 2100 ms late");
        check(table(1_900.0, 6, 3), "SIGSTOP of node-1: its runs were taken up after 6.0 s");
        check(table(1_900.0, 4, 0), "SIGCONT of node-1: nothing was refused, so nothing was proved");
        check(Table { earliest_ms: -1.0, ..table(0.0, 0, 1) }, "a request came 1.0 ms before its tick");
    }
}
