//! Goal: the library keeps its promises: restart, drift, migration, retry, first start, outage, refusals, stop. Method:
//! programs are started and stopped in virtual time, each story on a ledger in memory and on one in a file.

mod explain;
mod outage;
mod refuse;
mod retry;
mod share;
mod stage;
mod start;

/// Tells each story on both ledgers; it begins at the time that is given.
macro_rules! stories {
    ($($begin:literal $module:ident::$name:ident,)+) => {
        mod memory {
            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                super::$module::$name(super::stage::Stage::memory($begin)).await;
            })+
        }
        mod sqlite {
            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                super::$module::$name(super::stage::Stage::sqlite($begin)).await;
            })+
        }
    };
}

stories! {
    "15:30:20" start::the_first_start_fires_only_what_matches_its_minute_or_second,
    "09:30:00" start::a_restart_goes_on_from_the_last_known_state,
    "09:30:00" start::drift_is_refused_with_every_difference,
    "09:30:00" start::a_migration_accepts_a_new_set_and_keeps_the_history,
    "09:30:00" start::a_migration_of_nothing_is_a_first_start,
    "09:30:00" retry::a_failed_run_is_repeated_after_its_fixed_delay_until_it_succeeds,
    "09:30:00" retry::the_next_tick_runs_if_it_is_earlier_than_the_retry,
    "09:30:00" retry::a_retry_outlives_the_program,
    "09:30:00" retry::a_task_that_always_fails_is_never_disabled,
    "09:30:00" retry::a_closure_that_panics_is_a_failed_run,
    "09:30:00" retry::a_closure_that_hangs_is_ended_at_its_time_limit,
    "09:30:00" retry::a_stop_waits_for_what_runs,
    "09:30:00" outage::twelve_hours_without_a_scheduler_are_one_run,
    "09:30:00" outage::a_pending_retry_and_missed_ticks_are_one_run,
    "09:30:00" outage::a_short_stop_loses_nothing,
    "09:30:00" explain::every_instant_of_a_task_is_explained,
    "09:30:00" explain::a_clock_that_is_set_is_noticed_at_once,
    "09:30:00" share::programs_in_turn_leave_each_others_tasks_alone,
}

/// In memory only: what a stop left behind keeps the launch journal of a file open until it ends.
#[tokio::test(start_paused = true)]
async fn what_a_stop_did_not_wait_for_is_repeated_as_the_next_attempt() {
    let stage = stage::Stage::memory("09:30:00");
    retry::what_a_stop_did_not_wait_for_is_repeated_as_the_next_attempt(stage).await;
}
