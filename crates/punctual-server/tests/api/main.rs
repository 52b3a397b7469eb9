//! Goal: the HTTP door keeps its promises. Method: a server that really listens over a database of its own, and a client
//! that really asks; `api_postgres` tells the same stories over PostgreSQL.

mod calls;
mod described;
mod ground;
mod refusals;
mod waits;

use ground::Ground;

macro_rules! stories {
    ($($module:ident::$name:ident,)+) => {
        $(#[tokio::test]
        async fn $name() {
            $module::$name(Ground::sqlite().await).await;
        })+
    };
}

stories! {
    calls::a_schedule_lives_from_its_making_to_its_deletion,
    calls::a_pause_lists_what_was_admitted_before_it,
    calls::a_run_that_is_asked_for_is_in_the_ledger_and_can_be_ended,
    calls::pages_show_everything_once,
    calls::a_request_with_a_key_does_nothing_twice,
    calls::an_edit_of_another_version_is_refused,
    refusals::nobody_gets_in_without_a_token,
    refusals::what_cannot_be_meant_is_told_with_its_place,
    refusals::a_program_is_run_only_if_the_server_allows_it,
    waits::a_stop_answers_those_who_wait,
    waits::a_run_belongs_to_the_trace_of_whoever_asks_for_it,
    waits::a_workflow_and_a_file_are_kept_over_http,
}
