//! What other tools want of the command line: completions and manual pages, from the one table of flags.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use punctual::Failure;

use super::Cli;
use crate::output::Output;

/// `punctual completions SHELL`
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "punctual", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        output.raw(super::complete::with_names(self.shell, script).as_bytes())
    }
}

/// `punctual man [--dir FOLDER]`
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write a page for the program and for each command into this folder
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, output: &Output) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::world(format!("cannot write the manual: {error}"));
        let Some(folder) = &self.dir else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(failed)?;
            return output.raw(&page);
        };
        std::fs::create_dir_all(folder).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), folder).map_err(failed)
    }
}
