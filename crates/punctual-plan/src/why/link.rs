//! The answer: a sentence, and the chain of links behind it.

use core::fmt;

use jiff::Timestamp;

use crate::name::named;

named! {
    /// What a link is about, in the order in which a tick meets it.
    #[derive(PartialOrd, Ord)]
    Step {
        /// Whether the spec ticks at the instant, field by field.
        Spec = "spec",
        /// Which version of the schedule was valid.
        Version = "version",
        /// Whether the schedule was active.
        Status = "status",
        /// What the clock of its zone showed, and whether it was changed just then.
        Zone = "zone",
        /// `start_at`, `end_at` and `max_runs`.
        Bounds = "bounds",
        /// `only_between`, `not_on`, calendars and quiet hours.
        Windows = "windows",
        /// Whether it was looked at in time, and what its policy did if not.
        CatchUp = "catch_up",
        /// How far it was moved from its instant.
        Jitter = "jitter",
        /// How the schedules that it depends on fared.
        Dependency = "dependency",
        /// Which other run of the schedule was in its way.
        Overlap = "overlap",
        /// Which run held its guard key.
        Guard = "guard",
        /// Where the breaker of its target stood.
        Breaker = "breaker",
        /// Whether its org had room.
        Limits = "limits",
        /// What it waited for.
        Wait = "wait",
        /// Each time it was launched.
        Attempts = "attempts",
        /// Who admitted it.
        Node = "node",
        /// How late it started.
        Clock = "clock",
        /// What it is now.
        Outcome = "outcome",
    }
}

named! {
    /// What a link did.
    LinkEffect {
        /// It did not stand in the way.
        LetThrough = "let_through",
        /// It made the difference.
        Decided = "decided",
        /// It was never asked.
        NotAsked = "not_asked",
        /// Whoever asks does not know.
        Unknown = "unknown",
    }
}

/// One link of the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it is about.
    pub step: Step,
    /// What it did.
    pub effect: LinkEffect,
    /// In words, with the values.
    pub text: String,
}

/// What became of a schedule at an instant, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The schedule's name.
    pub subject: String,
    /// The instant, in whole seconds.
    pub at: Timestamp,
    /// The instant as the clock of the schedule's zone shows it, with the UTC time where that differs.
    pub local: String,
    /// In one sentence.
    pub verdict: String,
    /// The chain, one link for each [`Step`]; exactly one of them decided.
    pub links: Vec<Link>,
}

impl Why {
    /// The link that made the difference.
    pub fn decided(&self) -> &Link {
        let decided = self.links.iter().find(|link| link.effect == LinkEffect::Decided);
        decided.expect("one link of the chain decides")
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}` at {}: {}", self.subject, self.local, self.verdict)?;
        for link in &self.links {
            let mark = match link.effect {
                LinkEffect::LetThrough => ' ',
                LinkEffect::Decided => '>',
                LinkEffect::NotAsked => '-',
                LinkEffect::Unknown => '?',
            };
            writeln!(f, "{mark} {:<10}  {}", link.step, link.text)?;
        }
        Ok(())
    }
}
