//! The list of all checks, by area and file. A new check is added here.

/// Hands the list of checks to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! with_checks {
    ($then:ident $($factory:expr)?) => {
        $crate::$then! { [$($factory)?]
            runs {
                create {
                    a_created_run_reads_back_whole,
                    a_plain_run_has_nothing_it_was_not_given,
                    an_id_is_taken_once,
                    a_run_may_be_born_ended,
                    a_run_may_be_born_leased,
                    several_runs_in_one_commit,
                    a_payload_comes_back_as_its_text,
                }
                advance {
                    an_advance_moves_the_projection_and_takes_a_turn,
                    the_expected_turn_must_be_the_runs,
                    the_expected_length_must_be_the_streams,
                    a_log_does_not_disturb_a_decision,
                    an_unknown_run_cannot_advance,
                    an_ended_run_cannot_advance,
                    an_advance_without_events_is_a_turn_too,
                    an_error_comes_and_goes,
                    later_changes_see_earlier_ones,
                    a_refused_commit_leaves_nothing,
                }
                delete {
                    a_deleted_run_is_gone_with_all_that_is_its_own,
                    only_an_ended_run_can_be_deleted,
                    an_id_is_free_again_after_deletion,
                    a_run_may_be_deleted_and_made_again_in_one_commit,
                }
                tasks {
                    a_ready_task_is_claimed_once,
                    a_task_is_not_claimed_before_its_time,
                    the_earliest_due_comes_first,
                    a_claim_takes_no_more_than_its_limit,
                    a_lease_that_ran_out_is_claimed_again,
                    a_heartbeat_keeps_a_lease,
                    a_lost_lease_can_record_nothing,
                    a_commit_under_a_held_lease_passes,
                    tokens_are_never_given_twice,
                    parking_gives_the_lease_back,
                    a_task_woken_while_leased_is_due_when_parked,
                    a_wake_is_reported_once_and_not_forgotten,
                    a_new_claim_starts_unwoken,
                    parking_by_somebody_else_wakes_the_holder,
                    parking_a_free_task_moves_it,
                    waking_makes_a_parked_task_due,
                    parking_by_somebody_else_takes_back_no_wake,
                    waking_a_run_without_task_changes_nothing,
                    a_finished_task_is_gone_and_so_is_its_lease,
                    keeping_a_task_leaves_its_lease,
                    next_due_is_the_earliest_of_both,
                    reclaim_hands_back_every_lease_or_none,
                    a_park_under_a_lost_lease_is_refused,
                }
                idempotency {
                    a_key_names_one_run,
                    a_key_is_a_flows_own,
                    a_key_is_a_tenants_own,
                    a_key_holds_across_versions,
                    a_key_is_free_again_after_deletion,
                    a_key_twice_in_one_commit_is_refused,
                    a_race_for_a_key_has_one_winner,
                }
                lists {
                    newest_first_and_oldest_first,
                    every_filter_narrows,
                    filters_combine,
                    pages_follow_each_other_without_gap_or_repeat,
                    pages_hold_while_runs_are_added,
                    several_statuses_are_one_list,
                    a_prefix_is_not_a_pattern,
                    nonsense_is_no_cursor,
                    an_empty_list_is_empty,
                    many_runs_by_id,
                }
                snapshots {
                    the_latest_that_fits,
                    none_without_one,
                    a_new_run_may_bring_one,
                }
            }
            streams {
                append {
                    events_to_a_run_keep_their_order,
                    times_never_decrease_along_a_stream,
                    times_never_decrease_within_a_change,
                    an_unknown_run_takes_no_events,
                    an_ended_run_takes_no_events,
                    a_stream_is_made_by_its_first_event,
                    an_expected_length_guards_any_stream,
                    many_events_in_one_change,
                    large_payloads_come_back,
                }
                events {
                    forward_and_backward_pages,
                    positions_bound_a_page,
                    types_and_families,
                    steps_and_times_narrow,
                    filters_fill_the_page_across_chunks,
                    an_unknown_stream_is_empty,
                    the_envelope_comes_back,
                    ids_are_what_the_receipt_said,
                    a_long_stream_is_read_in_pages,
                    a_page_of_large_events_ends_early,
                }
                locate {
                    an_event_is_the_last_one_included,
                    an_id_between_two_names_the_earlier,
                    a_time_includes_its_millisecond,
                    an_empty_stream_has_no_places,
                    every_place_of_a_long_stream,
                }
                lists {
                    streams_are_listed_newest_first,
                    pages_of_streams,
                    runs_are_not_listed_as_streams,
                    kinds_do_not_mix,
                }
                log {
                    all_streams_are_in_one_order,
                    kinds_are_found_among_others,
                    large_changes_have_their_numbers,
                    a_page_of_the_log_is_no_larger_than_asked,
                    numbers_are_not_given_again,
                    live_events_have_the_numbers_of_the_log,
                }
                story {
                    a_story_is_read_across_streams_in_order,
                    events_of_one_time_have_one_order,
                    a_story_goes_with_what_it_is_made_of,
                }
            }
            queues {
                add {
                    many_jobs_are_added_in_one_commit,
                    a_commit_with_a_refusal_adds_no_job,
                    the_same_id_is_the_same_job,
                    an_id_that_was_chosen_is_not_that_of_another_queue,
                    large_data_comes_back_whole,
                    data_that_is_null_stays_null,
                    the_newest_job_is_the_one_added_last,
                }
                take {
                    a_job_begins_where_it_is_added,
                    what_waits_goes_before_what_is_added,
                    nothing_is_taken_beyond_what_a_queue_allows,
                    room_that_was_taken_in_parts_is_used_once,
                    a_job_that_is_there_already_is_not_taken,
                    a_lease_that_is_gone_takes_nothing,
                    what_was_taken_stalls_with_its_lease,
                }
                unique {
                    a_unique_name_is_taken_until_the_job_ends,
                    a_job_that_is_tried_again_has_its_name_back_unless_another_had_it,
                    a_unique_name_is_taken_for_a_time_or_as_long_as_the_job_is_known,
                    a_name_that_is_taken_for_a_time_outlives_the_retention_of_its_job,
                    a_job_that_has_not_begun_is_replaced,
                    what_replaces_a_job_does_so_as_a_whole,
                }
                claim {
                    reclaim_names_the_jobs_that_were_held,
                    higher_priority_goes_first,
                    a_delayed_job_waits_for_its_time,
                    a_delay_is_over_though_nobody_claims,
                    a_time_that_is_over_is_no_waiting,
                    a_claim_says_since_when_a_job_could_begin,
                    a_key_with_many_jobs_starves_nobody,
                    many_claimers_share_a_queue_without_a_job_twice,
                }
                limits {
                    a_queue_has_at_most_so_many_active_jobs,
                    a_key_has_at_most_so_many_active_jobs,
                    a_lowered_limit_of_a_key_holds_up_no_other,
                    a_rate_lets_so_many_begin_in_a_window,
                    the_window_of_a_rate_is_shown,
                    a_batch_gathers,
                    a_batch_is_whole_and_what_is_left_waits_for_the_next,
                    a_batch_is_not_cut_where_there_is_room_for_less,
                    a_batch_is_no_larger_than_its_rate,
                    a_batch_counts_what_its_keys_let_begin,
                    nothing_of_a_paused_queue_is_claimed,
                }
                settle {
                    a_job_lives_from_its_add_to_its_end,
                    a_retry_comes_back_with_the_next_attempt,
                    a_job_that_was_not_begun_counts_no_attempt,
                    a_job_that_succeeds_has_no_error_any_more,
                    a_dropped_job_leaves_nothing,
                    an_outcome_without_the_lease_is_refused,
                    an_outcome_and_what_follows_are_one_commit,
                    a_lease_is_kept_and_runs_out,
                    others_settle_only_what_has_run_out,
                    an_outcome_does_what_the_rules_say,
                }
                park {
                    losses_are_counted_apart_from_attempts,
                    a_parked_job_waits_until_it_is_released,
                    a_parked_job_can_be_listed_cancelled_and_removed,
                    a_dropped_job_is_gone_though_somebody_holds_it,
                }
                steer {
                    people_steer_jobs,
                    what_people_do_is_what_the_rules_say,
                    a_wish_that_does_not_fit_is_refused,
                    what_ended_well_begins_anew_and_what_failed_goes_on,
                    cancelling_ends_what_waits_and_tells_the_holder_of_what_runs,
                    a_job_that_was_cancelled_is_not_tried_again,
                    the_reason_of_a_cancel_outlives_the_attempt,
                }
                life {
                    a_row_tells_its_life,
                    an_event_has_one_id_before_and_after_more_is_appended,
                    every_attempt_has_its_events,
                    what_is_cancelled_before_it_begins_says_so,
                    derived_events_have_places_and_pages,
                    an_expected_length_counts_what_is_derived,
                }
                lists {
                    jobs_are_listed_by_state_in_pages,
                    a_list_shows_the_jobs_that_are_wanted,
                    queues_are_listed_with_their_oldest_job,
                    a_delayed_job_is_as_old_as_it_has_waited,
                    the_jobs_before_a_waiting_one_are_counted,
                }
                purge {
                    jobs_are_purged_by_state_and_age,
                    a_purge_spares_what_others_wait_for,
                    retention_removes_ended_jobs_with_their_streams,
                }
            }
            awaits {
                life {
                    an_await_reads_back_whole,
                    an_id_is_taken_until_its_await_is_over,
                    an_await_of_an_event_is_deleted_and_a_callback_closed,
                    awaits_go_with_their_run,
                }
                fire {
                    firing_keeps_the_value_and_wakes_the_run,
                    what_cannot_be_fired_is_refused,
                    nothing_is_fired_after_its_time,
                    a_callback_for_many_accepts_a_thousand,
                    a_callback_is_fired_no_more_often_than_it_says,
                    what_was_fired_is_never_too_late,
                    firing_and_ending_race_and_one_wins,
                    many_who_fire_have_one_winner,
                }
                signal {
                    an_event_fires_all_that_it_equals,
                    who_is_the_first_to_wait_for_a_kind_is_found,
                    equality_is_of_values_not_of_texts,
                    tenants_hear_their_own_and_what_is_for_all,
                    the_order_of_changes_counts,
                    a_commit_is_judged_by_what_its_changes_leave,
                    many_who_signal_lose_nothing,
                    a_signal_carries_the_id_of_its_event,
                    the_bus_tells_whom_a_commit_woke,
                }
                lookback {
                    a_look_back_finds_the_earliest,
                    a_look_back_passes_over_what_was_given,
                    a_look_back_passes_over_all_before_a_time_that_was_given,
                    a_look_back_sees_its_own_commit_and_tenant,
                    a_filter_that_looks_back_is_given_its_events,
                    a_filter_looks_back_on_all_however_many,
                }
                outbox {
                    a_signal_goes_out_if_a_filter_may_mean_it,
                    candidates_were_there_before_the_event,
                    an_event_that_very_many_wait_for_is_delivered_in_parts,
                    later_events_do_not_overtake_one_that_is_delivered_in_parts,
                    what_is_yet_to_be_judged_is_never_too_late,
                    whoever_listens_hears_every_signal_of_a_kind,
                    the_outbox_keeps_its_order_until_signals_are_removed,
                }
                emits {
                    emitted_events_are_logged_in_order,
                    the_log_is_trimmed_by_its_own_time,
                    what_nobody_hears_is_counted,
                    events_under_a_key_are_stored_once,
                }
                lists {
                    awaits_are_listed_in_pages,
                    open_awaits_are_counted_by_kind,
                }
            }
            definitions {
                flows {
                    a_definition_is_kept_for_ever,
                    the_same_again_is_no_news,
                    another_definition_needs_another_version,
                    all_definitions_are_listed,
                    a_definition_and_its_event_are_one_commit,
                }
                triggers {
                    a_trigger_reads_back_whole,
                    every_change_is_the_next_version,
                    a_trigger_that_was_removed_keeps_its_version,
                    a_route_belongs_to_one,
                    triggers_are_listed_by_id,
                    schedules_come_when_they_are_due,
                    a_due_time_and_its_run_are_one_commit,
                    a_race_for_a_due_time_has_one_winner,
                    a_change_of_the_schedule_counts_from_then_on,
                    what_failed_or_was_missed_is_counted,
                    the_beginning_of_a_stream_can_be_forgotten,
                    a_removed_trigger_is_swept_with_its_stream,
                }
            }
            whole {
                groups {
                    a_refusal_touches_nobody_else,
                    commits_of_a_group_see_those_before,
                    an_empty_group_is_fine,
                    two_hundred_producers_lose_nothing,
                    one_stream_from_many_producers_has_one_order,
                    claims_and_commits_at_once_do_each_job_once,
                }
                retention {
                    what_is_over_is_swept,
                    none_keeps_for_ever,
                    a_sweep_is_bounded,
                    what_has_not_ended_is_never_swept,
                }
                health {
                    a_check_passes,
                    it_describes_itself,
                    stats_count_jobs,
                    a_closed_store_says_so,
                    markers_are_kept_until_they_are_removed,
                }
            }
        }
    };
}

/// Hands the list of checks with two handles on the same data to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! with_shared_checks {
    ($then:ident $($factory:expr)?) => {
        $crate::$then! { [$($factory)?]
            groups_on_the_same_runs_in_opposite_order_both_end,
            a_race_for_an_idempotency_key_has_one_winner,
            a_race_for_a_route_has_one_winner,
            a_race_for_a_unique_name_adds_one_job,
            a_concurrency_limit_holds_for_both,
            a_rate_limit_holds_for_both,
            an_expired_lease_is_taken_over_and_fences_its_holder,
            a_reader_of_the_log_misses_nothing_of_two_writers,
            a_limit_of_a_key_holds_for_both,
            an_await_expires_or_its_event_arrives,
            an_await_that_looks_back_misses_no_event,
            a_callback_is_used_up_once,
            a_group_that_is_sent_again_is_applied_once,
        }
    };
}
