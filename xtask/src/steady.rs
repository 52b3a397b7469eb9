//! `cargo xtask steady`: a per-second schedule for ten minutes, and its lateness as the ledger has it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::failure::Failure;
use crate::release;

/// How long it runs unless told otherwise.
const SECONDS: u64 = 600;

/// Runs one schedule each second on an otherwise idle server and prints what the ledger says.
pub(crate) fn command(arguments: &[String]) -> Result<(), Failure> {
    let seconds = match arguments {
        [] => Some(SECONDS),
        [text] => text.parse().ok(),
        _ => None,
    };
    let seconds =
        seconds.ok_or_else(|| Failure::new("not a number of seconds", "cargo xtask steady [SECONDS]"))?;
    let program = release::program()?;
    let folder = std::env::temp_dir().join(format!("punctual-steady-{}", std::process::id()));
    let result = measure(&Bench { program: &program, folder: &folder }, seconds);
    // What is left behind in a temporary folder harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    result
}

struct Bench<'a> {
    program: &'a Path,
    folder: &'a Path,
}

fn measure(bench: &Bench<'_>, seconds: u64) -> Result<(), Failure> {
    let mut server = bench.serve()?;
    let created =
        bench.ask(&["schedule", "create", "--name", "steady", "--cron", "* * * * * *", "--", "true"]);
    if created.is_ok() {
        println!("one schedule each second for {seconds} s …");
        std::thread::sleep(Duration::from_secs(seconds));
    }
    // A server that has ended by itself shows in the ledger.
    let _ = server.kill();
    let _ = server.wait();
    created?;
    let limit = seconds.to_string();
    let ledger = bench.ask(&["schedule", "runs", "--name", "steady", "--limit", &limit])?;
    let ledger: serde_json::Value =
        serde_json::from_str(&ledger).map_err(|error| Failure::new(error.to_string(), "is it JSON?"))?;
    println!("{}", ledger["summary"]);
    Ok(())
}

impl Bench<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(arguments)
            .env_remove("DATABASE_URL")
            .env("PUNCTUAL_LISTEN", "none")
            .env("XDG_DATA_HOME", self.folder);
        command
    }

    fn serve(&self) -> Result<Child, Failure> {
        let failed =
            |what: &str| Failure::new(format!("the server did not start: {what}"), "try `punctual serve`");
        let mut child = self
            .command(&["serve", "--log-level", "warn"])
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error.to_string()))?;
        let stdout = child.stdout.take().ok_or_else(|| failed("no output"))?;
        let greeting: Vec<String> = BufReader::new(stdout).lines().take(2).map_while(Result::ok).collect();
        greeting.iter().for_each(|line| println!("{line}"));
        if greeting.len() == 2 { Ok(child) } else { Err(failed("it said nothing")) }
    }

    fn ask(&self, arguments: &[&str]) -> Result<String, Failure> {
        let failed =
            |what: String| Failure::new(format!("punctual {}: {what}", arguments.join(" ")), "see above");
        let output = self.command(arguments).output().map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
