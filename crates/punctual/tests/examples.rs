//! Goal: the examples do what they say. Method: each is started as people start it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example, built beside this test.
fn example(name: &str) -> Command {
    let own = std::env::current_exe().expect("this test is a file");
    let folder = own.ancestors().nth(2).map(PathBuf::from).expect("it is in `deps`");
    let path = folder.join("examples").join(name);
    assert!(path.exists(), "the example `{name}` is not built: run `cargo build -p punctual --examples`");
    Command::new(path)
}

fn output(name: &str) -> String {
    let output = example(name).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn embed_greets_at_once_and_stops_on_an_interrupt() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut embed = example("embed");
    embed.env("XDG_DATA_HOME", folder.path()).env("TZ", "UTC").stdout(Stdio::piped());
    let mut running = embed.spawn().expect("it starts");
    let mut lines = BufReader::new(running.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("hello for "), "{first}");
    assert!(folder.path().join("punctual/embed.db").exists());
    let told = Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(told.expect("kill is there").success());
    assert!(running.wait().expect("it ends").success());
}

#[test]
fn policies_tells_what_each_of_them_did() {
    let told = output("policies");
    for line in [
        "import 10:00 success",
        "import 14:00 success",
        "import 16:00 success",
        "report 08:05 success",
        "invoices 12:30 success",
        "ping 10:30 success",
    ] {
        assert!(told.lines().any(|told| told == line), "{line}\n{told}");
    }
    assert!(told.contains("import 20:00 skipped: "), "{told}");
    assert!(told.contains("ping 13:30 skipped: "), "{told}");
    assert!(told.contains("sync ") && told.contains("failed: "), "{told}");
}

#[test]
fn own_tests_lets_two_days_pass() {
    assert_eq!(output("own_tests"), "two days were tested, 28 mails were sent\n");
}
