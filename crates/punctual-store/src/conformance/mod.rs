//! The suite that every backend passes: one function per behaviour, grouped by the step of a tick's life.
//!
//! A backend says how it is opened ([`Backend`]); the macro `conformance!` makes one test of each behaviour. Nothing
//! in here waits, sleeps or looks at the time it takes.

pub mod admit;
pub mod ahead;
pub mod batch;
pub mod change;
pub mod claim;
pub mod copy;
pub mod document;
pub mod effect;
pub mod executor;
pub mod instant;
pub mod isolation;
pub mod keep;
pub mod list;
pub mod live;
mod made;
pub mod model;
pub mod node;
pub mod plan;
pub mod queue;
pub mod race;
pub mod settle;
pub mod stage;
pub mod trace;
mod turn;
pub mod wide;
pub mod zone;

use std::future::Future;

use crate::Store;

/// How a backend is opened.
pub trait Backend: Sync {
    /// What it is.
    type Store: Store;

    /// A fresh and empty store.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Another handle on the same data, as a second node has it.
    fn second(&self, first: &Self::Store) -> impl Future<Output = Self::Store> + Send;

    /// How many stories are told to it and to the simulation. Each has a store of its own.
    fn stories(&self) -> u64 {
        300
    }
}

/// Makes one test of each behaviour for a backend.
///
/// ```ignore
/// punctual_store::conformance!(Files::new());
/// ```
#[macro_export]
macro_rules! conformance {
    ($backend:expr) => {
        $crate::behaviours!([$crate::conformance] @each $backend);
    };
    (@each $backend:expr; $($group:ident { $($name:ident,)+ })+) => {
        $(
            mod $group {
                #[allow(unused_imports)]
                use super::*;

                $(
                    #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $name() {
                        $crate::conformance::$group::$name(&$backend).await;
                    }
                )+
            }
        )+
    };
}

/// Gives every behaviour, by its group, to another macro, after what that macro wants to have before them.
#[macro_export]
macro_rules! behaviours {
    ([$($then:tt)+] $($before:tt)*) => {
        $($then)+! {
            $($before)*;
            plan {
                a_created_schedule_has_its_first_window_armed,
                a_schedule_without_a_plan_is_left_to_the_planner,
                the_second_planner_to_commit_creates_no_run,
                a_plan_of_an_older_version_is_stale,
                a_plan_of_a_paused_schedule_is_stale,
                a_plan_of_a_spent_schedule_is_stale,
                a_long_outage_leaves_ranges_up_to_the_cursor,
                a_stale_plan_writes_no_range,
                a_slept_through_row_is_closed_with_its_event,
                a_late_row_that_is_caught_up_fires_later,
                armed_ticks_that_were_slept_through_are_one_decision,
                a_row_that_has_started_is_not_closed_by_a_plan,
                only_active_schedules_are_decided,
                a_suppressed_tick_waits_with_its_verdict,
                plannable_schedules_come_in_the_order_of_their_time,
                plannable_schedules_keep_to_the_shards,
                the_sweep_sees_what_is_late_in_any_shard,
                a_planned_schedule_is_left_alone,
                instants_read_back_as_they_were_written,
                every_tick_has_exactly_one_entry,
                the_planner_is_told_what_is_outstanding,
                nothing_is_missed_while_a_tick_waits_to_start,
                a_missed_tick_is_followed_by_the_next_one,
                a_plan_that_waits_for_what_has_ended_goes_on,
            }
            instant {
                what_jitter_may_fire_early_is_planned_earlier,
                nothing_fires_before_it_was_planned,
                nothing_fires_before_its_schedule_starts,
                a_window_is_asked_about_the_tick,
                lateness_counts_from_when_a_tick_was_to_fire,
                a_first_start_fires_at_once,
            }
            admit {
                a_due_row_is_admitted_under_the_fence,
                a_row_is_admitted_once,
                a_verdict_over_an_earlier_attempt_changes_nothing,
                a_tick_is_not_skipped_for_a_run_that_did_not_start,
                an_overlapping_tick_is_skipped_with_its_event,
                a_row_looked_at_too_late_is_missed,
                a_late_tick_beyond_the_pace_fires_later,
                a_queued_tick_waits_and_is_woken,
                a_wait_ends_at_its_deadline,
                nothing_starts_after_its_deadline,
                a_dependent_tick_waits_for_its_upstream,
                a_failed_upstream_ends_the_wait,
                an_absent_upstream_skips_the_tick,
                max_runs_disarms_what_lies_beyond,
                due_rows_are_taken_in_turns_by_org,
                one_bad_row_never_fails_a_batch,
                a_message_is_written_with_its_admission,
                an_unanswered_run_expires,
                a_forced_run_starts_beside_the_other,
                a_run_carries_what_its_request_adds,
                due_rows_keep_to_the_shards,
                a_due_row_brings_what_its_launch_needs,
                a_late_row_of_an_undecided_schedule_is_told,
            }
            ahead {
                a_herd_is_admitted_like_each_of_its_rows,
                a_herd_is_admitted_once_and_ends,
                a_herd_in_two_batches_is_admitted_once,
                a_herd_and_a_change_at_once_agree,
                a_herd_that_ends_at_once_is_counted_like_each_of_its_rows,
                a_herd_leaves_out_what_has_changed,
                what_was_judged_ahead_is_admitted,
                what_was_judged_ahead_is_void_after_a_change,
                what_was_judged_ahead_does_not_pass_a_breaker_that_has_opened,
                a_change_of_what_is_held_waits_for_it,
                a_hold_that_is_let_go_leaves_nothing,
                a_hold_ends_with_the_lease,
                a_herd_is_held_in_parts,
            }
            claim {
                a_lost_guard_leaves_nothing_behind,
                a_held_guard_skips_the_tick,
                a_shared_lane_is_held_by_one_run,
                a_shared_lane_is_not_taken_twice,
                a_lane_is_held_by_a_run_whose_schedule_is_gone,
                a_breaker_has_a_single_probe,
                a_probe_is_not_taken_twice,
                every_move_of_a_breaker_is_told_alike,
                a_limit_in_flight_lets_runs_wait,
                what_a_run_waited_for_is_kept,
                whoever_had_its_turn_does_not_wait_any_more,
                a_place_under_a_limit_is_not_taken_twice,
                a_limit_per_minute_lets_runs_wait_for_the_next,
                a_limit_may_skip_instead,
                max_runs_is_never_exceeded,
                claims_are_freed_by_every_end,
            }
            effect {
                a_tick_cancels_the_run_in_flight,
                a_later_tick_ends_those_that_wait,
                a_wait_in_a_shared_lane_ends_for_its_own_schedule,
                a_tick_supersedes_a_pending_retry,
                a_tick_supersedes_a_retry_that_waits,
                a_retry_keeps_its_turn_in_a_queue,
                a_retry_that_waited_too_long_fails,
                a_queue_has_an_end,
            }
            settle {
                a_success_is_counted,
                a_failure_is_counted_with_its_reason,
                a_failure_is_tried_again,
                a_failed_launch_is_repeated_a_few_times,
                a_run_in_doubt_follows_its_delivery,
                an_ended_run_is_not_settled_again,
                a_report_under_another_fence_is_refused,
                a_late_success_of_an_older_attempt_closes_the_run,
                reports_of_one_batch_see_each_other,
                a_breaker_opens_and_is_closed_by_hand,
                failing_too_often_disables_the_schedule,
                a_deleted_schedule_is_not_disabled,
                an_end_brings_about_chained_runs,
                a_paused_follower_is_skipped_and_a_deleted_one_is_left_out,
                a_schedule_without_further_ticks_is_exhausted,
                output_is_kept_within_its_bound,
                an_interval_from_the_last_end_goes_on_after_each_run,
                an_interval_from_the_last_start_goes_on_after_each_run,
                a_launch_is_noted_under_the_fence,
                a_failure_after_a_pause_is_final,
            }
            live {
                a_person_cancels_a_run_in_flight,
                a_person_cancels_an_open_row,
                another_org_cancels_nothing,
                attempts_that_are_over_are_named,
                output_is_shown_while_it_runs,
            }
            change {
                an_edit_replaces_what_is_still_to_come,
                an_edit_closes_what_is_due_and_leaves_what_runs,
                a_pause_cancels_pending_retries,
                a_pause_is_accounted_for_when_it_ends,
                maintenance_is_accounted_for_by_its_own_name,
                a_resumption_catches_up_by_its_policy,
                a_deletion_frees_the_name_and_keeps_the_history,
                a_deleted_schedule_cannot_be_changed,
                a_change_of_another_version_is_stale,
                a_change_after_a_plan_is_stale,
                the_audit_log_names_who_changed_what,
                versions_are_kept,
                a_version_is_valid_after_what_was_decided,
                a_new_schedule_is_known_without_being_read,
                a_name_is_taken_once,
                a_refused_write_does_not_stop_the_others,
                a_name_is_taken_once_within_a_batch,
                an_org_has_a_bounded_number_of_schedules,
                a_repeated_request_gives_the_same_run,
                a_backfill_stands_beside_the_tick,
                what_is_used_is_known,
                a_manual_run_survives_an_edit,
                open_rows_are_those_that_may_still_start,
                a_tick_that_was_skipped_early_is_not_planned_again,
                a_tick_that_was_skipped_before_the_clock_was_set_back_is_not_planned_again,
                a_backfill_that_is_sent_again_is_one_run,
                a_request_that_is_sent_again_later_gets_its_first_run,
                a_change_after_the_last_run_accounts_for_nothing,
            }
            node {
                each_join_raises_the_fence,
                a_heartbeat_renews_the_lease,
                a_heartbeat_notes_the_node_s_clock,
                a_lost_lease_is_told,
                shards_are_spread_evenly,
                the_shards_of_a_node_that_left_are_taken,
                only_the_runs_of_the_dead_are_taken_over,
                a_dead_node_takes_nothing_over,
                a_node_without_a_lease_writes_nothing,
                what_was_handed_back_is_told_to_who_takes_it_over,
                a_pending_retry_is_not_taken_over,
                an_older_tz_database_does_not_plan,
                a_run_names_its_tz_database,
            }
            zone {
                newer_rules_move_what_is_to_come,
                newer_rules_leave_what_is_in_its_place,
                newer_rules_do_not_reach_back,
                newer_rules_move_windows_too,
                a_schedule_is_moved_once,
                older_rules_change_nothing_any_more,
            }
            queue {
                a_run_is_leased_once,
                a_worker_takes_from_its_own_queue,
                the_token_settles_a_leased_run,
                a_lease_expires_unless_it_is_extended,
                a_late_worker_may_still_succeed,
                a_cancelled_run_is_taken_from_its_worker,
                a_worker_of_another_org_gets_nothing,
            }
            executor {
                an_executor_speaks_for_a_run_by_its_token,
                a_report_before_the_answer_counts,
                a_run_that_an_executor_has_taken_is_not_in_doubt,
                each_attempt_has_a_token_of_its_own,
                an_executor_that_never_reports_is_given_up,
                an_executor_of_another_org_says_nothing,
                a_target_that_is_gone_disables_its_schedule,
            }
            trace {
                a_run_keeps_the_trace_of_its_admission,
                a_run_belongs_to_the_trace_of_its_request,
                an_admission_gives_an_attempt_its_token,
            }
            list {
                schedules_come_by_name_in_pages,
                names_come_with_ids_in_pages,
                schedules_are_filtered,
                deleted_schedules_are_listed_when_asked_for,
                a_schedule_is_found_by_any_of_its_names,
                runs_come_newest_first_in_pages,
                runs_are_filtered,
                events_are_listed_and_filtered,
                counts_are_those_of_the_scope,
                events_of_the_installation_are_no_tenants,
            }
            document {
                a_document_replaces_its_own_version,
                documents_are_listed_by_kind_and_name,
                what_is_done_to_documents_is_audited,
                a_document_is_removed_once,
                a_changed_calendar_counts_for_every_handle_at_once,
                a_changed_calendar_counts_for_what_is_armed,
                what_cannot_be_read_is_paused_and_nothing_else,
                a_token_is_known_by_its_hash,
                a_request_is_answered_once,
                limits_count_from_when_they_are_written,
            }
            keep {
                old_runs_become_digests,
                retention_goes_in_bounded_steps,
                a_schedule_keeps_its_newest_rows,
                a_run_is_kept_from_its_end_on,
                events_are_sealed_in_a_chain,
                each_org_has_its_own_chain,
                only_sealed_events_are_removed,
            }
            wide {
                the_status_counts_the_tables,
                a_busy_store_is_clean,
                an_altered_event_is_found,
                a_moved_run_is_found,
                a_vanished_run_is_found,
                an_ended_run_that_wants_a_look_is_found,
                a_moved_cursor_is_found,
                a_claim_without_its_run_is_found,
                an_unreadable_definition_stops_nobody,
            }
            copy {
                a_copy_has_the_same_rows,
                a_table_is_read_in_pages,
                a_copy_reads_alike,
                a_copy_goes_on,
            }
            isolation {
                lists_show_nothing_of_another_org,
                things_of_another_org_are_not_found,
                changes_are_answered_as_if_nothing_were_there,
                other_things_cannot_be_touched,
                names_are_each_orgs_own,
                claims_do_not_reach_into_another_org,
            }
            batch {
                a_repeated_plan_is_answered_alike,
                a_repeated_admission_is_answered_alike,
                a_repeated_settlement_is_answered_alike,
                a_stale_answer_is_kept_too,
                an_empty_batch_is_answered_with_nothing,
            }
            race {
                of_many_who_make_schedules_each_is_answered_for_itself,
                one_of_two_planners_wins,
                one_of_two_admitters_wins,
                a_guard_and_a_lane_are_claimed_once,
                a_probe_is_claimed_once,
                one_of_two_reports_counts,
                settlements_from_two_nodes_are_all_counted,
                an_edit_and_a_plan_do_not_both_count,
                a_name_is_given_once,
                no_more_schedules_are_made_than_an_org_may_have,
                a_run_is_leased_to_one_worker,
                every_node_has_its_own_fence,
                a_change_of_another_is_announced,
                a_wait_for_what_has_ended_is_due_at_once,
                a_wait_for_an_upstream_or_a_place_is_due_at_once,
            }
            model {
                the_ledger_is_the_simulated_one,
            }
        }
    };
}
