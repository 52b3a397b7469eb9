//! An explanation on the screen.

use punctual::Failure;
use punctual_plan::{Link, Why};
use serde_json::{Value, json};

use super::Output;
use super::prose::hung;

/// Where the text of a link begins.
const INDENT: usize = 14;

/// Shows the chain.
pub(crate) fn show(output: &Output, why: &Why) -> Result<(), Failure> {
    let link = |link: &Link| -> Value {
        json!({"step": link.step.name(), "effect": link.effect.name(), "text": link.text})
    };
    let json = json!({
        "schedule": why.subject,
        "at": why.at,
        "local": why.local,
        "verdict": why.verdict,
        "decided_by": why.decided().step.name(),
        "links": why.links.iter().map(link).collect::<Vec<_>>(),
    });
    output.write(&json, || hung(&why.to_string(), INDENT))
}
