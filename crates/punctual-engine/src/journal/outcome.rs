//! Outcomes as the journal writes them: a word, and what belongs to it up to the end of the line.

use jiff::Timestamp;
use punctual_plan::Outcome;

pub(super) fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded => "succeeded".to_owned(),
        Outcome::Exited { code } => format!("exited {code}"),
        Outcome::Signalled { signal } => format!("signalled {signal}"),
        Outcome::Reported { error } => format!("reported {}", one_line(error)),
        Outcome::TimedOut => "timed_out".to_owned(),
        Outcome::Lost => "lost".to_owned(),
        Outcome::LaunchFailed { error } => format!("launch_failed {}", one_line(error)),
        Outcome::NoWorkflow { workflow, version } => format!("no_workflow {version} {}", one_line(workflow)),
        Outcome::Answered { code, retry_at, url } => {
            let retry_at = retry_at.map_or_else(|| "-".to_owned(), |at| at.as_microsecond().to_string());
            format!("answered {code} {retry_at} {}", one_line(url))
        }
        Outcome::Unanswered { error } => format!("unanswered {}", one_line(error)),
        Outcome::AddressRefused { address, url } => format!("address_refused {address} {}", one_line(url)),
        Outcome::Cancelled { by } => format!("cancelled {}", one_line(by)),
        Outcome::InDoubt => "in_doubt".to_owned(),
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

pub(super) fn read_outcome(text: &str) -> Option<Outcome> {
    let (kind, value) = text.split_once(' ').unwrap_or((text, ""));
    Some(match kind {
        "succeeded" => Outcome::Succeeded,
        "exited" => Outcome::Exited { code: value.parse().ok()? },
        "signalled" => Outcome::Signalled { signal: value.parse().ok()? },
        "reported" => Outcome::Reported { error: value.to_owned() },
        "timed_out" => Outcome::TimedOut,
        "lost" => Outcome::Lost,
        "cancelled" => Outcome::Cancelled { by: value.to_owned() },
        "launch_failed" => Outcome::LaunchFailed { error: value.to_owned() },
        "in_doubt" => Outcome::InDoubt,
        "no_workflow" => {
            let (version, workflow) = value.split_once(' ')?;
            Outcome::NoWorkflow { workflow: workflow.to_owned(), version: version.parse().ok()? }
        }
        "answered" => read_answered(value)?,
        "unanswered" => Outcome::Unanswered { error: value.to_owned() },
        "address_refused" => {
            let (address, url) = value.split_once(' ')?;
            Outcome::AddressRefused { address: address.parse().ok()?, url: url.to_owned() }
        }
        _ => return None,
    })
}

fn read_answered(text: &str) -> Option<Outcome> {
    let mut words = text.splitn(3, ' ');
    let (code, retry_at, url) = (words.next()?, words.next()?, words.next()?);
    let retry_at = match retry_at {
        "-" => None,
        at => Some(Timestamp::from_microsecond(at.parse().ok()?).ok()?),
    };
    Some(Outcome::Answered { code: code.parse().ok()?, retry_at, url: url.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn what_a_web_target_said_reads_back() {
        let url = || "https://example.com/a b".to_owned();
        for outcome in [
            Outcome::Answered { code: 503, retry_at: Some(at(9)), url: url() },
            Outcome::Answered { code: 404, retry_at: None, url: url() },
            Outcome::Unanswered { error: "no answer within 20 s".to_owned() },
            Outcome::AddressRefused { address: "::1".parse().unwrap(), url: url() },
        ] {
            assert_eq!(read_outcome(&outcome_text(&outcome)), Some(outcome));
        }
    }
}
