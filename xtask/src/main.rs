//! The project's own tools. [`COMMANDS`] lists them; `cargo xtask` alone prints that list.
//!
//! Never part of what users run, and never a script in another language: what checks the project is Rust as well.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool talks to the person at the terminal")]

mod bench;
mod check;
mod eyes;
mod facts;
mod failure;
mod faults;
mod finding;
mod ground;
mod line;
mod peers;
mod release;
mod repository;
mod rust_file;
mod sim;
mod steady;
mod stress;
mod sweep;
mod tidy;

use std::process::ExitCode;

use failure::Failure;

/// One subcommand.
struct Command {
    /// How it is called, arguments included; the first word is its name.
    usage: &'static str,
    /// One line of help.
    help: &'static str,
    /// What it does with the arguments after its name.
    run: fn(&[String]) -> Result<(), Failure>,
}

/// All subcommands. To add one, add a line.
#[rustfmt::skip]
const COMMANDS: &[Command] = &[
    Command { usage: "check [--fast]", help: "everything that CI checks; --fast is the inner loop", run: check::command },
    Command { usage: "tidy [--rules]", help: "the rules of the house, also part of `cargo test`", run: tidy::command },
    Command { usage: "ground", help: "install what check needs from outside cargo", run: ground::command },
    Command { usage: "with-postgres -- CMD…", help: "run CMD beside a private PostgreSQL", run: ground::postgres::command },
    Command { usage: "faults [serve] [--kills N] [--database sqlite|postgres|both] [--seed S]", help: "kill -9 the program under load at every named place and at random, judging its ledger after each", run: faults::command },
    Command { usage: "faults scenes [clock|server|standby|proxy|disk|page|nights|versions]…", help: "what databases, disks, lines, clocks and other versions can do to the program under load", run: faults::command },
    Command { usage: "faults store [--kills N] [--database sqlite|postgres|both]", help: "kill -9 a process under load 200 times on each database, then judge the tables", run: faults::command },
    Command { usage: "faults nodes [--nodes 2|3] [--rate 2000] [--seconds N] [--seed S]", help: "kill, stop, add and remove nodes on one PostgreSQL under load, then judge its ledger", run: faults::command },
    Command { usage: "sim SEED | --seeds A..B [--store memory|sqlite|mixed] [--days N] | --soak [--log FILE] [--threads N] | --eyes", help: "whole clusters in virtual time with every kind of fault, held to every promise", run: sim::command },
    Command { usage: "steady [SECONDS]", help: "one schedule each second for ten minutes, with its lateness", run: steady::command },
    Command { usage: "stress [--parts file,ledger,programs,idle] [--schedules 100k] [--runs 1M]", help: "the program with a huge file, a huge ledger, a thousand programs", run: stress::command },
    Command { usage: "sweep", help: "every zone and transition 1970–2037 against the oracle", run: sweep::command },
    Command { usage: "bench store|throughput|register|growth|herd|steady|crash|outage|idle|api|peers", help: "what the stores, the engine and the HTTP door bear", run: bench::command },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return Ok(());
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", help());
        return Ok(());
    }
    let command = COMMANDS.iter().find(|command| command.usage.split(' ').next() == Some(name));
    match command {
        Some(command) => (command.run)(rest),
        None => Err(Failure::new(format!("there is no command `{name}`"), "`cargo xtask` lists them")),
    }
}

fn help() -> String {
    let lines =
        COMMANDS.iter().map(|command| format!("  cargo xtask {:<28} {}\n", command.usage, command.help));
    format!("The project's own tools:\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command() {
        let help = help();
        assert!(
            COMMANDS.iter().all(|command| help.contains(command.usage) && help.contains(command.help)),
            "{help}"
        );
    }

    #[test]
    fn an_unknown_command_is_refused_with_a_hint() {
        let failure = run(&["fly".to_owned()]).expect_err("there is no such command");
        assert_eq!(failure.to_string(), "error: there is no command `fly`\nhint: `cargo xtask` lists them");
    }
}
