//! The description of the API is what the repository keeps, and says everything that the router does.

use std::path::PathBuf;

use serde_json::Value;

use crate::ground::Ground;

fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json")
}

#[test]
fn the_description_in_the_repository_is_the_present_one() {
    let now = punctual_server::json();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(kept(), &now).expect("it can be written");
    }
    let then = std::fs::read_to_string(kept()).expect("docs/openapi.json is there");
    assert!(then == now, "docs/openapi.json is of an older version; renew it with BLESS=1");
}

#[test]
fn every_call_says_what_it_answers_and_how_it_refuses() {
    let described: Value = serde_json::from_str(&punctual_server::json()).expect("JSON");
    assert_eq!(described["openapi"], "3.1.0");
    let mut ids = std::collections::HashSet::new();
    for (path, calls) in described["paths"].as_object().expect("paths") {
        for (method, call) in calls.as_object().expect("calls") {
            let what = format!("{method} {path}");
            assert!(ids.insert(call["operationId"].as_str().expect("an id").to_owned()), "{what}");
            assert!(call["summary"].as_str().is_some_and(|text| !text.is_empty()), "{what}");
            assert!(call["tags"][0].is_string(), "{what}");
            let answers = call["responses"].as_object().expect("answers");
            assert!(answers.keys().any(|status| status.starts_with('2')), "{what}");
            for status in ["401", "404", "422", "503"] {
                let content = &answers[status]["content"]["application/problem+json"];
                assert!(content["schema"].is_object(), "{what}: {status}");
            }
            let named = path.matches('{').count();
            let parameters = call["parameters"]
                .as_array()
                .map_or(0, |all| all.iter().filter(|one| one["in"] == "path").count());
            assert_eq!(named, parameters, "{what}");
        }
    }
    assert!(ids.len() >= 29, "there are {} calls", ids.len());
}

#[tokio::test]
async fn every_described_call_is_there_and_no_other_method() {
    let ground = Ground::sqlite().await;
    let described = ground.get("/api/v1/openapi.json").await.is(200).body.clone();
    for (path, calls) in described["paths"].as_object().expect("paths") {
        let path =
            path.replace("{schedule}", "nobody").replace("{run}", "run-99").replace("{target}", "nobody");
        for method in ["get", "post", "put", "patch", "delete"] {
            let asked = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            // A stream has no end, so only how it begins is looked at.
            let answer = ground.request(asked, &format!("/api/v1{path}")).send().await.expect("an answer");
            let is_there = answer.status().as_u16() != 405;
            assert_eq!(is_there, calls.get(method).is_some(), "{method} {path}: {}", answer.status());
        }
    }
    ground.end().await;
}
