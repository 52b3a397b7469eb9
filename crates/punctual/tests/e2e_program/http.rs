//! A server as programs and commands on its host reach it: the guide, the socket, another address, a taken port.

use std::path::Path;
use std::process::Command;

use crate::driver::Person;

/// A line of the guide, carried out by a shell in the person's home.
fn shell(person: &Person, script: &str) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_punctual")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    Command::new("sh")
        .args(["-c", script])
        .env_remove("DATABASE_URL")
        .env("XDG_DATA_HOME", person.home().join("data"))
        .env("PATH", path)
        .output()
        .expect("a shell")
}

#[test]
fn every_command_of_the_guide_to_http_works_in_its_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/http.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let person = Person::new();
    let serving = person.serve();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(lines.len() > 15, "the page shows {} commands", lines.len());
    let export = lines[0];
    while !shell(&person, &format!("curl -fsS {}/readyz", serving.url())).status.success() {
        std::thread::yield_now();
    }
    for line in &lines[1..] {
        let line = line.replace("http://127.0.0.1:7424", &serving.url());
        let output = shell(&person, &format!("{export}\n{line}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !output.stdout.is_empty(), "{line}: {said}");
    }
    serving.stop();
}

#[test]
fn commands_write_through_the_socket_and_say_the_same() {
    let person = Person::new();
    let create = |name: &str| {
        person.json(&["schedule", "create", "--name", name, "--cron", "0 3 1 1 *", "--", "echo", "x"])
    };
    create("before");
    let alone: Vec<Vec<u8>> = views(&person);
    let serving = person.serve();
    assert!(person.home().join("data/punctual/punctual.db.sock").exists());
    assert_eq!(views(&person), alone);
    // The owner of the files may run any program, through the socket as well.
    assert_eq!(create("during")["created"], true);
    let refused = person.run(&["schedule", "create", "--name", "x", "--cron", "61 * * * *", "--", "true"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), said.starts_with("error: --cron: ")), (Some(4), true), "{said}");
    let taken = person.run(&["schedule", "create", "--name", "during", "--cron", "@daily", "--", "true"]);
    assert_eq!(taken.status.code(), Some(5));
    let waited = person.run(&["schedule", "trigger", "--name", "during", "--wait"]);
    assert!(waited.status.success(), "{}", String::from_utf8_lossy(&waited.stderr));
    assert_eq!(
        person.json(&["schedule", "update", "--name", "during", "--", "echo", "y"])["schedule"]["version"],
        2
    );
    serving.stop();
    assert!(!person.home().join("data/punctual/punctual.db.sock").exists());
}

/// What some commands print that look at a schedule.
fn views(person: &Person) -> Vec<Vec<u8>> {
    let lines: [&[&str]; 6] = [
        &["schedule", "get", "--name", "before"],
        &["--text", "schedule", "get", "--name", "before"],
        &["--text", "schedule", "list"],
        &["schedule", "preview", "--name", "before", "--count", "3"],
        &["--text", "schedule", "history", "--name", "before"],
        &["--text", "schedule", "update", "--name", "before", "--cron", "@daily", "--dry-run"],
    ];
    lines.iter().map(|line| person.run(line).stdout).collect()
}

/// Its schedule is due in January alone: one that is due within the minute is planned at once, and the number of its
/// run is spent even when an edit takes the tick back, so that the one asked for would not be `run-1`.
#[test]
fn a_server_elsewhere_is_asked_with_its_token() {
    let person = Person::new();
    let serving = person.serve();
    let url = serving.url();
    let ask = |arguments: &[&str], token: &str| {
        let mut command = person.command(&[&["--server", &url], arguments].concat());
        command.env("PUNCTUAL_TOKEN", token).env("XDG_DATA_HOME", "/nonexistent").output().expect("it starts")
    };
    let file = person.home().join("data/punctual/punctual.db.token");
    let token = std::fs::read_to_string(file).expect("a token").trim().to_owned();
    let made = ask(&["schedule", "create", "--name", "a", "--cron", "0 3 1 1 *", "--queue", "q"], &token);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert_eq!(ask(&["schedule", "list"], "wrong").status.code(), Some(8));
    let program = ask(&["schedule", "create", "--name", "b", "--cron", "@daily", "--", "true"], &token);
    assert_eq!(program.status.code(), Some(8));
    for line in [
        &["schedule", "disable", "--name", "a"][..],
        &["schedule", "enable", "--name", "a"],
        &["schedule", "update", "--name", "a", "--cron", "0 4 1 1 *"],
        &["schedule", "rollback", "--name", "a", "--to", "1"],
        &["schedule", "history", "--name", "a"],
        &["schedule", "preview", "--name", "a"],
        &["schedule", "trigger", "--name", "a"],
        &["request", "create", "--queue", "q", "--prompt", "look"],
        &["runs"],
        &["schedule", "runs", "--name", "a"],
        &["schedule", "run-details", "--run-id", "run-1"],
        &["why", "--run", "run-1"],
        &["audit", "--all"],
        &["audit", "log"],
        &["audit", "verify"],
        &["system", "nodes"],
        &["system", "breaker"],
        &["system", "breaker", "a", "--reset"],
        &["schedule", "delete", "--name", "a"],
    ] {
        let output = ask(line, &token);
        assert!(output.status.success(), "{line:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let here = ask(&["db", "status"], &token);
    let said = String::from_utf8_lossy(&here.stderr).into_owned();
    assert!(here.status.code() == Some(4) && said.contains("hint: run it on the host"), "{said}");
    serving.stop();
}

#[test]
fn a_port_that_is_taken_and_an_address_of_others_are_refused() {
    let (first, second) = (Person::new(), Person::new());
    let serving = first.serve();
    let address = serving.url().replace("http://", "");
    let taken = second.run(&["serve", "--listen", &address]);
    let said = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert!(taken.status.code() == Some(6) && said.contains("hint: another process listens there"), "{said}");
    let wide = second.run(&["serve", "--listen", "0.0.0.0:7424"]);
    let said = String::from_utf8_lossy(&wide.stderr).into_owned();
    assert!(wide.status.code() == Some(4) && said.contains("lets no other host in"), "{said}");
    let alone = second.serve_in_home(&["--listen", "none"]);
    assert!(alone.greeting.iter().all(|line| !line.contains("http://")), "{:?}", alone.greeting);
    alone.stop();
    serving.stop();
}
