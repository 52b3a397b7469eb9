//! Files of schedules: `punctual plan` shows what one would do, `punctual schema` what one may hold.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use punctual::{Failure, declare};
use punctual_time::{Once, Zone};

use crate::output::{Output, plan};

/// `punctual plan FILE`
#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// A YAML file, or a folder of them
    file: PathBuf,
    /// The start of the 24 hours that are shown, RFC 3339 or in UTC; now without it
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
}

impl Plan {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let from = match &self.from {
            Some(text) => Once::parse(text, &Zone::utc())?.instant(),
            None => Timestamp::now(),
        };
        plan::show(output, &declare::read(&self.file, from)?, from)
    }
}

/// `punctual schema`
#[derive(Debug, Args)]
pub(crate) struct Schema;

impl Schema {
    /// One form for people and programs alike: it is JSON either way.
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(declare::schema());
        let text = text.map_err(|error| Failure::world(error.to_string()))?;
        output.raw((text + "\n").as_bytes())
    }
}
