//! What is large comes out right and stays within bounds of memory: a declared file, a ledger, a herd of programs.
//!
//! The bounds are the system's own: a command that needs more memory than it is given fails. `cargo xtask stress` does
//! the same with ten times the size and prints what everything took.

#![allow(clippy::print_stdout, reason = "within what bounds a command stayed is worth a line")]

#[path = "../e2e_program/driver.rs"]
#[allow(dead_code, reason = "each test program uses what it needs")]
mod driver;
mod file;
mod herd;
mod ledger;

use std::process::Output;

use driver::Person;

/// Runs a command that may have so many MiB of memory of its own, and must succeed with them.
fn within(person: &Person, memory_mib: u32, line: &[&str]) -> Output {
    let program = person.command(line);
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -d $0; exec \"$@\"", &(memory_mib * 1024).to_string()]);
    command.arg(program.get_program()).args(program.get_args()).current_dir(person.home());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // Each thread would have memory of its own to give out, whatever of it is used.
    let output = command.env("MALLOC_ARENA_MAX", "2").output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "punctual {} within {memory_mib} MiB: {said}", line.join(" "));
    println!("punctual {}: within {memory_mib} MiB", line.join(" "));
    output
}

/// How often a text is in an answer.
fn count(output: &Output, text: &str) -> usize {
    String::from_utf8_lossy(&output.stdout).matches(text).count()
}
