//! Several programs on one database: none of them touches what belongs to another.

use punctual::scheduler::{Drift, Error};

use crate::stage::{Stage, ledger};

/// Begins at 09:30.
pub(crate) async fn programs_in_turn_leave_each_others_tasks_alone(stage: Stage) {
    let shop = || [stage.good("orders", "0 * * * *")];
    let mail = || [stage.good("letters", "0 * * * *")];
    let post = || stage.builder().name("post");
    stage.start(shop()).await.stop().await;

    let scheduler = post().initialize(mail()).await.expect("it is another set");
    stage.until("12:30:00").await;
    let hours = ["10:00:00", "11:00:00", "12:00:00"];
    assert_eq!(stage.calls(), hours.map(|hour| format!("letters at {hour} for {hour} #1")));
    scheduler.stop().await;

    // Its owner decides what became of its ticks, as after any outage.
    let scheduler = stage.start(shop()).await;
    stage.until("12:40:00").await;
    assert_eq!(stage.calls()[3..], ["orders at 12:30:00 for 12:00:00 #1"]);
    assert_eq!(ledger(&scheduler, "letters").await.len(), 3);
    scheduler.stop().await;

    let taken = post().migrate([stage.good("orders", "0 * * * *")]).await.expect_err("it is the shop's");
    assert!(taken.to_string().contains("`orders` belongs to the set `shop`"), "{taken}");
    let Error::Drift { differences, .. } = taken else { panic!("{taken}") };
    assert!(differences.iter().any(|one| one.drift == Drift::Taken { by: Some("shop".to_owned()) }));
    let own_org = post().org("acme").initialize([stage.good("orders", "0 * * * *")]).await;
    own_org.expect("another org has its own identifiers").stop().await;
}
