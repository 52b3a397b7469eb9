//! The `punctual` binary: parse, dispatch, exit code.

mod cli;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::run(cli::Cli::from_line()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::complain(&failure);
            ExitCode::from(failure.kind.exit_code())
        }
    }
}
