//! Why a schedule did or did not run at an instant.

use std::fmt;

use jiff::Timestamp;
use punctual_plan as plan;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The whole chain behind one instant of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// The schedule's name.
    pub schedule: String,
    /// The instant.
    pub at: Timestamp,
    /// The instant as the clock of the schedule's zone shows it.
    pub local: String,
    /// In one sentence.
    pub verdict: String,
    /// The step that made the difference.
    pub decided_by: String,
    /// The chain, one link for each step.
    pub links: Vec<Link>,
}

/// What one step of the decision says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WhyLink)]
pub struct Link {
    /// The step.
    pub step: String,
    /// Whether it let the tick through, decided, was not asked, or is unknown.
    pub effect: String,
    /// In a sentence.
    pub text: String,
}

impl From<&plan::Why> for Why {
    fn from(why: &plan::Why) -> Self {
        let link = |link: &plan::Link| Link {
            step: link.step.name().to_owned(),
            effect: link.effect.name().to_owned(),
            text: link.text.clone(),
        };
        Self {
            schedule: why.subject.clone(),
            at: why.at,
            local: why.local.clone(),
            verdict: why.verdict.clone(),
            decided_by: why.decided().step.name().to_owned(),
            links: why.links.iter().map(link).collect(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}` at {}: {}", self.schedule, self.local, self.verdict)?;
        for link in &self.links {
            let mark = match link.effect.parse() {
                Ok(plan::LinkEffect::LetThrough) => ' ',
                Ok(plan::LinkEffect::Decided) => '>',
                Ok(plan::LinkEffect::NotAsked) => '-',
                Ok(plan::LinkEffect::Unknown) | Err(_) => '?',
            };
            writeln!(f, "{mark} {:<10}  {}", link.step, link.text)?;
        }
        Ok(())
    }
}
