//! A command line that is run with its output shown, and that can be printed for copying.

use std::fmt;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// A program with its arguments and the variables set for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    variables: Vec<(String, String)>,
    words: Vec<String>,
}

impl Line {
    /// A line from its words; the first is the program.
    pub(crate) fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Self { variables: Vec::new(), words: words.into_iter().map(Into::into).collect() }
    }

    /// The same line with one more environment variable.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same line, for the cores that nobody else wants.
    pub(crate) fn gently(mut self) -> Self {
        self.words.splice(0..0, ["nice", "-n", "19"].map(str::to_owned));
        self
    }

    /// The process, ready to be adjusted and started.
    pub(crate) fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        command.args(words).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs it with this terminal's output and waits for its end.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self.command().stdin(Stdio::null()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => {
                Err(Failure::new(format!("`{self}` ended with {status}"), format!("run again: {self}")))
            }
            Err(error) => Err(self.not_started(&error)),
        }
    }

    /// Runs it quietly and gives what it printed; a failure carries its error output.
    pub(crate) fn output(&self) -> Result<String, Failure> {
        let output =
            self.command().stdin(Stdio::null()).output().map_err(|error| self.not_started(&error))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(
            format!("`{self}` ended with {}: {}", output.status, said.trim()),
            format!("run again: {self}"),
        ))
    }

    fn not_started(&self, error: &std::io::Error) -> Failure {
        Failure::new(
            format!("`{self}` could not be started: {error}"),
            "is its program installed and on the PATH?",
        )
    }
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = self.words.iter().map(|word| quoted(word));
        write!(out, "{}", variables.chain(words).collect::<Vec<_>>().join(" "))
    }
}

/// A word as a shell would need it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@+%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_prints_as_it_can_be_pasted_into_a_shell() {
        let check = |line: Line, expected: &str| assert_eq!(line.to_string(), expected);
        check(Line::new(["cargo", "fmt", "--check"]), "cargo fmt --check");
        check(Line::new(["cargo", "test", "--test", "e2e_*"]), "cargo test --test 'e2e_*'");
        check(
            Line::new(["cargo", "doc"]).with("RUSTDOCFLAGS", "-D warnings"),
            "RUSTDOCFLAGS='-D warnings' cargo doc",
        );
        check(Line::new(["echo", "it's", ""]), r"echo 'it'\''s' ''");
    }

    #[test]
    fn a_line_that_fails_says_how_to_run_it_again() {
        let failure = Line::new(["sh", "-c", "exit 3"]).run().expect_err("exit 3 is a failure");
        assert_eq!(failure.what, "`sh -c 'exit 3'` ended with exit status: 3");
        assert_eq!(failure.hint, "run again: sh -c 'exit 3'");
    }

    #[test]
    fn a_program_that_is_absent_is_named() {
        let failure = Line::new(["no-such-program-here"]).output().expect_err("it does not exist");
        assert!(failure.what.starts_with("`no-such-program-here` could not be started"), "{failure}");
    }
}
