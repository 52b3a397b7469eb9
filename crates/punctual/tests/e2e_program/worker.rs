//! Goal: what a server puts into a queue, a worker beside it does, and the ledger has its end.
//! Method: the real program three times on one file: one serves, one works, one asks.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use punctual_plan::{Action, Object, Queue};

use crate::driver::Person;
use crate::secret::create;

fn queue() -> Action {
    Action::Queue(Queue {
        queue: "q".to_owned(),
        worker_type: None,
        prompt: Some("Look at it".to_owned()),
        repo_url: None,
        branch: "main".to_owned(),
        context: Object::new(),
        config: Object::new(),
    })
}

#[test]
fn a_worker_beside_a_server_does_the_runs_of_its_queue() {
    let person = Person::new();
    let serving = person.serve();
    create(&person, "asked", queue());
    let mut worker = person
        .command(&[
            "worker",
            "--queue",
            "q",
            "--concurrency",
            "2",
            "--",
            "sh",
            "-c",
            "cat; test -n $PUNCTUAL_TOKEN",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut log = BufReader::new(worker.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut next = |text: &str| -> serde_json::Value {
        let line = log.find(|line| line.contains(text)).expect("the log goes on");
        serde_json::from_str(&line).expect("the log is JSON")
    };
    assert_eq!(next("takes runs")["fields"]["queue"], "q");
    assert_eq!(next("\"ended\"")["fields"]["schedule"], "asked");
    let id = worker.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill exists").success());
    let _left: Vec<String> = log.collect();
    let ended = worker.wait_with_output().expect("it ends");
    let worked: serde_json::Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    assert!(ended.status.success() && worked["succeeded"].as_u64() >= Some(1), "{worked}");

    let ledger = person.json(&["schedule", "runs", "--name", "asked"]);
    let runs = ledger["runs"].as_array().expect("a list").clone();
    let done = runs.iter().find(|run| run["status"] == "success").expect("one was done");
    let asked: serde_json::Value =
        serde_json::from_str(done["output"].as_str().expect("it printed its run")).expect("JSON");
    assert_eq!((&asked["prompt"], &asked["run_id"]), (&"Look at it".into(), &done["id"]));
    serving.stop();
}

#[test]
fn a_server_that_may_open_too_few_files_says_so() {
    let person = Person::new();
    let serve = person.command(&["serve"]);
    let program = serve.get_program().to_owned();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 300; exec \"$@\"", "sh"]).arg(program).arg("serve");
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let refused = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    let expected = "error: 1100 programs at once take 3556 open files, and the system allows 300";
    assert_eq!((refused.status.code(), said.lines().next()), (Some(1), Some(expected)), "{said}");
    assert!(said.contains("\nhint: raise the hard limit"), "{said}");
}

#[test]
fn a_worker_that_works_once_ends_when_nothing_is_left() {
    let person = Person::new();
    let worked = person.json(&["worker", "--queue", "empty", "--once", "--", "true"]);
    assert_eq!(worked, serde_json::json!({"succeeded": 0, "failed": 0, "lost": 0}));
    let refused = person.run(&["worker", "--queue", "q"]);
    assert_eq!(refused.status.code(), Some(2), "a worker needs a command");
}
