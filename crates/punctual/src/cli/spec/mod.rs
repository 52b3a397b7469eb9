//! `punctual spec …`: the language of time, without a database.
//!
//! Each verb answers one [`spec::Request`], given by flags or as a line of JSON; [`batch`] reads many.

mod batch;
mod request;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use punctual::Failure;
use punctual::spec::{self, Answer, Refusal};

use crate::output::Output;
use request::{Request, Sentence};

#[derive(Debug, Subcommand)]
pub(crate) enum Spec {
    /// Show the next ticks of a spec
    Next(Ask),
    /// Show the last ticks of a spec before an instant, newest first
    Prev(Ask),
    /// Say a spec in English
    Describe(Ask),
    /// Check a spec and show its next five runs
    Validate(Ask),
    /// Say field by field why the instant given by --at is a tick, or why not
    Explain(Ask),
    /// Read plain English as a schedule
    Parse(Tell),
}

/// A question about a spec, or a file of them.
#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    request: Request,
    /// Read one JSON object a line from this file (`-` for standard input), with the names of the flags
    #[arg(long, value_name = "FILE", conflicts_with = "Request")]
    batch: Option<PathBuf>,
}

/// A sentence, or a file of them.
#[derive(Debug, Args)]
pub(crate) struct Tell {
    #[command(flatten)]
    sentence: Sentence,
    /// Read one JSON object a line, with `text`, `tz` and `now`, from this file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "Sentence")]
    batch: Option<PathBuf>,
}

impl Spec {
    pub(crate) fn run(self, output: &Output) -> Result<(), Failure> {
        let now = Timestamp::now();
        match self {
            Self::Next(ask) => ask.run(output, |request| spec::next(request, now)),
            Self::Prev(ask) => ask.run(output, |request| spec::prev(request, now)),
            Self::Describe(ask) => ask.run(output, |request| spec::describe(request, now)),
            Self::Validate(ask) => ask.run(output, |request| spec::validate(request, now)),
            Self::Explain(ask) => ask.run(output, |request| spec::explain(request, now)),
            Self::Parse(tell) => tell.run(output, |sentence| spec::parse(sentence, now)),
        }
    }
}

impl Ask {
    fn run(
        self,
        output: &Output,
        verb: impl Fn(&spec::Request) -> Result<Answer, Refusal>,
    ) -> Result<(), Failure> {
        match self.batch {
            Some(file) => batch::run(output, &file, verb),
            None => show(output, verb(&self.request.into())),
        }
    }
}

impl Tell {
    fn run(
        self,
        output: &Output,
        verb: impl Fn(&spec::Sentence) -> Result<Answer, Refusal>,
    ) -> Result<(), Failure> {
        match self.batch {
            Some(file) => batch::run(output, &file, verb),
            None => show(output, verb(&self.sentence.into())),
        }
    }
}

fn show(output: &Output, answer: Result<Answer, Refusal>) -> Result<(), Failure> {
    let answer = answer?;
    output.write(&answer.json, || answer.text)
}
