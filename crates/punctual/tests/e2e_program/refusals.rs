//! Goal: every exit code that is promised is seen, and what is said beside it reads as it did.
//! Method: the trouble behind each code is really made; the messages are kept as one snapshot.

use crate::driver::Person;

/// The code of a command that fails, and what it says, without what differs from home to home.
fn refused(person: &Person, line: &[&str]) -> String {
    let output = person.command(line).env("COLUMNS", "100").output().expect("the program starts");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(output.stdout.is_empty(), "{line:?}: {}", String::from_utf8_lossy(&output.stdout));
    let text = format!("$ punctual {}\n[{}] {said}", line.join(" "), output.status.code().expect("a code"));
    text.replace(&person.home().display().to_string(), "HOME")
}

#[test]
fn every_exit_code_comes_with_its_reason_and_what_to_do() {
    let person = Person::new();
    person.json(&["schedule", "create", "--name", "backup", "--cron", "@daily", "--", "true"]);
    let file = person.home().join("shop.yaml");
    let declared = "schedules: [{name: shop, cron: '0 9 * * *', target: {type: process, argv: ['true']}}]\n";
    std::fs::write(&file, declared).expect("it can be written");
    let path = file.to_str().expect("text").to_owned();
    person.json(&["apply", &path]);
    std::fs::write(&file, declared.replace("0 9", "0 10")).expect("it can be written");
    let lines: [&[&str]; 6] = [
        &["--database", "/dev/null/a.db", "schedule", "list"],
        &["schedule", "create", "--nmae", "x", "--cron", "@daily", "--", "true"],
        &["schedule", "get", "--name", "bakcup"],
        &["schedule", "create", "--name", "x", "--cron", "61 * * * *", "--", "true"],
        &["schedule", "create", "--name", "backup", "--cron", "@daily", "--", "true"],
        &["serve", "--config", &path, "--strict"],
    ];
    let mut said: Vec<String> = lines.iter().map(|line| refused(&person, line)).collect();
    let serving = person.serve();
    let second = refused(&person, &["serve"]).replace(&serving.id(), "PID");
    serving.stop();
    said.insert(5, second);
    for (code, text) in (1..).zip(&said) {
        assert!(text.contains(&format!("\n[{code}] error: ")), "exit code {code}: {text}");
    }
    insta::assert_snapshot!(said.join("\n"));
}
