//! Secrets: known to the program and to nobody else.

use punctual_engine::{Label, Vault};
use punctual_plan::{Outcome, Process};
use punctual_store::{DocumentKind, NewDocument, Scope, Store};

use super::stage::{Stage, at, env, shell};

impl Stage {
    async fn put(&self, vault: &Vault, name: &str, value: &str) -> String {
        let body = vault.seal(Label { org_id: "default", name }, value).expect("it is sealed");
        let (kind, now) = (DocumentKind::Secret, at("2026-03-01T09:00:00Z"));
        let new = NewDocument { kind, name: name.to_owned(), body: body.clone(), replaces: None, now };
        self.store.put_document(Scope::org(self.org), new).await.expect("it is kept");
        body
    }
}

fn with(script: &str, variables: &[(&str, &str)]) -> Process {
    let mut program = shell(script);
    program.env = env(variables);
    program
}

async fn refused(stage: &Stage, value: &str) -> String {
    match stage.run(with("true", &[("A", value)])).await.outcome {
        Outcome::LaunchFailed { error } => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn references_are_resolved_for_the_program_and_hidden_in_what_it_prints() {
    let stage = Stage::new().await;
    let body = stage.put(&stage.vault(), "api", "s3cr3t-one").await;
    assert!(!body.contains("s3cr3t"), "the database alone gives nothing away");
    let file = stage.path("token");
    std::fs::write(&file, "s3cr3t-two\n").expect("a file");
    let path = std::env::var("PATH").expect("a path");
    let value = format!("${{file:{}}}", file.display());
    let program = with(
        "test \"$A\" = 'Bearer s3cr3t-one' && test \"$B\" = s3cr3t-two && test \"$C\" = \"$PATH\" || exit 9
         echo $A; echo $B >&2; printf s3cr; sleep 0.01; echo 3t-one; test \"${#A}\" = 17",
        &[("A", "Bearer ${secret:api}"), ("B", &value), ("C", "${env:PATH}"), ("PATH", &path)],
    );
    let finished = stage.run(program).await;
    let output = finished.output.expect("it printed");
    assert_eq!(finished.outcome, Outcome::Succeeded, "{output}");
    assert!(!output.contains("s3cr"), "{output}");
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["***", "***", "Bearer ***"]);
}

#[tokio::test]
async fn what_is_missing_is_named_by_its_reference() {
    let stage = Stage::new().await;
    for (value, expected) in [
        ("${secret:gone}", "cannot resolve `${secret:gone}`: there is no secret `gone`"),
        (
            "${env:NOT_SET_ANYWHERE}",
            "cannot resolve `${env:NOT_SET_ANYWHERE}`: the environment of this node has no such variable",
        ),
        ("${file:/no/such}", "cannot resolve `${file:/no/such}`: No such file or directory (os error 2)"),
        ("${file:relative}", "cannot resolve `${file:relative}`: the path is not absolute"),
        ("${file:/dev}", "cannot resolve `${file:/dev}`: it is not a regular file"),
        ("${secret:open", "`${secret:open` has no closing `}`"),
    ] {
        assert_eq!(refused(&stage, value).await, expected);
    }
}

#[tokio::test]
async fn a_secret_that_this_node_cannot_open_is_named_and_not_shown() {
    let stage = Stage::new().await;
    let other = Vault::new(stage.path("other.key"));
    stage.put(&other, "api", "s3cr3t").await;
    let key = stage.path("punctual.key");
    let expected = format!("cannot resolve `${{secret:api}}`: there is no key `{}`", key.display());
    assert_eq!(refused(&stage, "${secret:api}").await, expected);
    stage.put(&stage.vault(), "mine", "x").await;
    let expected = "cannot resolve `${secret:api}`: the secret `api` was sealed with another key, or changed";
    assert_eq!(refused(&stage, "${secret:api}").await, expected);
}

#[tokio::test]
async fn a_program_that_cannot_be_started_does_not_tell_its_secrets() {
    let stage = Stage::new().await;
    stage.put(&stage.vault(), "api", "s3cr3t").await;
    let mut program = Process::new(["/no/such/s3cr3t"]);
    program.env = env(&[("A", "${secret:api}")]);
    let Outcome::LaunchFailed { error } = stage.run(program).await.outcome else { panic!("it cannot start") };
    assert_eq!(error, "`/no/such/***`: No such file or directory (os error 2)");
}
