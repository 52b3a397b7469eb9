//! `punctual secret …`

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use punctual::{Failure, Secrets};
use punctual_engine::SECRET_BYTES_MAX;
use serde_json::json;

use crate::output::secrets::{list, shown};
use crate::output::{Output, note};

#[derive(Debug, Subcommand)]
pub(crate) enum Secret {
    /// Keep a value, read from standard input or a file, in the place of the one before
    Put(Put),
    /// Show the names of the secrets and when each was put; never a value
    List,
    /// Remove a secret; runs that refer to it then fail to launch
    Rm(Rm),
}

#[derive(Debug, Args)]
pub(crate) struct Put {
    /// The name by which targets refer to it: `${secret:NAME}`
    #[arg(value_name = "NAME")]
    name: String,
    /// Read the value from this file instead of standard input
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
    /// Check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
    /// Show what would be removed, but write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Secret {
    pub(crate) async fn run(self, secrets: &Secrets, output: &Output) -> Result<(), Failure> {
        match self {
            Self::Put(put) => put.run(secrets, output).await,
            Self::List => list(output, &secrets.list().await?),
            Self::Rm(rm) => rm.run(secrets, output).await,
        }
    }
}

impl Put {
    async fn run(self, secrets: &Secrets, output: &Output) -> Result<(), Failure> {
        let (name, value) = (&self.name, self.value()?);
        if self.dry_run {
            secrets.check(name, &value)?;
            return output.write(&json!({"dry_run": true, "name": name}), || format!("would put {name}\n"));
        }
        let row = secrets.put(name, &value).await?;
        output.write(&json!({"secret": shown(&row)}), || {
            format!("put {name}; refer to it as ${{secret:{name}}}\n")
        })
    }

    /// The value without the end of its last line.
    fn value(&self) -> Result<String, Failure> {
        // One byte more than fits tells that it does not.
        let limit = SECRET_BYTES_MAX as u64 + 2;
        let mut value = String::new();
        let read = match &self.from_file {
            Some(path) => {
                std::fs::File::open(path).and_then(|file| file.take(limit).read_to_string(&mut value))
            }
            None => {
                if std::io::stdin().is_terminal() {
                    note("type the value and end it with Ctrl-D; it is shown while you type");
                }
                std::io::stdin().take(limit).read_to_string(&mut value)
            }
        };
        let place = self
            .from_file
            .as_ref()
            .map_or_else(|| "standard input".to_owned(), |path| format!("`{}`", path.display()));
        read.map_err(|error| Failure::world(format!("cannot read {place}: {error}")))?;
        let line = value.strip_suffix('\n').unwrap_or(&value);
        Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
    }
}

impl Rm {
    async fn run(self, secrets: &Secrets, output: &Output) -> Result<(), Failure> {
        let name = &self.name;
        if self.dry_run {
            let row = secrets.get(name).await?;
            return output.write(&json!({"dry_run": true, "secret": shown(&row)}), || {
                format!("would remove {name}\n")
            });
        }
        secrets.remove(name).await?;
        output.write(&json!({"removed": name}), || format!("removed {name}\n"))
    }
}
