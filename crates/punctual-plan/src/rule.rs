//! Rules that a test can take out, to see whether anything notices.
//!
//! Each rule of the ledger that closes a hole asks [`holds`] where it is kept. With the feature `rule-switches`, which only
//! tests have, one of them can be switched off: for a thread by `take_out`, for a process with all its threads by its name in
//! `PUNCTUAL_RULE_OUT`. Without the feature the answer is always yes, and the question costs nothing.

use crate::name::named;

named! {
    /// A rule that can be taken out.
    Rule {
        /// What settles the awaited thing wakes the row in the same transaction.
        WakeTheWaiting = "wake_the_waiting",
        /// A run that nobody answers for is ended after its time.
        EndTheUnanswered = "end_the_unanswered",
        /// A skip that is known ahead is applied at its instant, not before.
        NothingEndsAhead = "nothing_ends_ahead",
        /// A window suppresses the ticks in it.
        WindowsSuppress = "windows_suppress",
        /// A window is asked about the tick, not about the instant at which it fires.
        WindowsAskTheTick = "windows_ask_the_tick",
        /// A second request with the same key gives the first one's run.
        OneRunPerRequest = "one_run_per_request",
        /// One row per instant, schedule, origin and nonce.
        OneRowPerTick = "one_row_per_tick",
        /// A run that follows another is known by that one, and by nothing else.
        FollowsByTheRun = "follows_by_the_run",
        /// Planning time is never before what was decided already.
        DecideOnce = "decide_once",
        /// A window is planned half a window before its first tick.
        HalfAWindowAhead = "half_a_window_ahead",
        /// A plan reaches to the end of its window.
        WholeWindow = "whole_window",
        /// What jitter may fire early is planned earlier by as much.
        EarlyJitterIsReckoned = "early_jitter_is_reckoned",
        /// A plan counts only while the cursor stands where it was made.
        CursorGuard = "cursor_guard",
        /// A range is written with the cursor, or not at all.
        RangesWithTheCursor = "ranges_with_the_cursor",
        /// A plan counts only under the version that it was made of.
        VersionGuard = "version_guard",
        /// A plan counts only while the schedule is active.
        ActiveGuard = "active_guard",
        /// A tick fires between the midpoints to its neighbours.
        BetweenMidpoints = "between_midpoints",
        /// Nothing is to fire before it was planned.
        NeverBeforeItsPlan = "never_before_its_plan",
        /// Nothing is to fire before its schedule starts.
        NeverBeforeTheStart = "never_before_the_start",
        /// A tick of the minute in which its schedule is made fires at once.
        FirstStartAtOnce = "first_start_at_once",
        /// What was let fire late is never caught up again.
        CatchUpOnce = "catch_up_once",
        /// A late row that fires does so at the decision.
        LateAtTheDecision = "late_at_the_decision",
        /// Late rows and the unplanned stretch are one decision.
        CatchUpAsOne = "catch_up_as_one",
        /// A late row that does not fire ends with its stretch.
        LateRowsEnd = "late_rows_end",
        /// Many equal non-fires are ranges with exact counts.
        ExactRanges = "exact_ranges",
        /// Lateness counts from the instant at which a tick was to fire.
        LatenessFromFireAt = "lateness_from_fire_at",
        /// What a later tick has overtaken does not fire any more.
        OvertakenIsMissed = "overtaken_is_missed",
        /// Only what is armed was slept through, not what waits.
        OnlyArmedIsLate = "only_armed_is_late",
        /// What is late within the grace period is not missed.
        Grace = "grace",
        /// A change removes the rows that are still to come.
        ChangeRemoves = "change_removes",
        /// A change ends the rows that have come.
        ChangeEnds = "change_ends",
        /// A change raises the version.
        ChangeRaisesTheVersion = "change_raises_the_version",
        /// A change plans the first window of what comes after it.
        ChangePlans = "change_plans",
        /// A schedule that fails too often leaves `active`.
        TooManyFailuresDisable = "too_many_failures_disable",
        /// A schedule that cannot be read any more leaves `active`.
        UnreadableIsPaused = "unreadable_is_paused",
        /// A schedule without further ticks leaves `active`.
        TheLastTickEndsIt = "the_last_tick_ends_it",
        /// Leaving `active` cancels pending retries.
        LeavingCancelsRetries = "leaving_cancels_retries",
        /// A tick that fired early belongs to the version that fired it.
        EarlyBelongsToItsVersion = "early_belongs_to_its_version",
        /// Ticks that nobody planned end with the change.
        ChangeAccounts = "change_accounts",
        /// A change counts only on the version and cursor that it was decided on.
        ChangeGuard = "change_guard",
        /// A node with an older tz database does not plan.
        OlderRulesDoNotPlan = "older_rules_do_not_plan",
        /// What was planned by older rules of a zone is planned again by newer ones.
        NewerRulesPlanAgain = "newer_rules_plan_again",
        /// `max_runs` is counted inside the admission.
        MaxRunsInAdmission = "max_runs_in_admission",
        /// At most one run in flight where runs take turns, by a claim.
        LaneClaim = "lane_claim",
        /// At most one run per guard key, by a claim.
        GuardClaim = "guard_claim",
        /// The claims of a start are taken together, or none of them.
        ClaimsTogether = "claims_together",
        /// An end frees what the run held.
        EndsFreeClaims = "ends_free_claims",
        /// A run in flight is met by the overlap policy.
        OverlapPolicy = "overlap_policy",
        /// A row is admitted only while it is open and at the attempt that was judged.
        AdmitOpenRows = "admit_open_rows",
        /// Nothing is admitted before its instant.
        NeverEarly = "never_early",
        /// What could not start in time is skipped.
        StartDeadline = "start_deadline",
        /// What waits too long ends.
        WaitsEnd = "waits_end",
        /// Calendars and quiet hours that changed since a tick was armed count for it.
        SharedWindowsAsTheyAre = "shared_windows_as_they_are",
        /// Only so many runs wait behind one.
        QueuesAreBounded = "queues_are_bounded",
        /// Where ticks do not wait for each other, a run that is to be tried again keeps nobody from starting.
        RetriesAreNotInTheWay = "retries_are_not_in_the_way",
        /// Only what is admitted in a committed transaction is launched.
        LaunchAfterCommit = "launch_after_commit",
        /// Nothing is launched without a certain lease.
        LeaseBeforeLaunch = "lease_before_launch",
        /// A lease ends by the clock that nobody sets.
        LeaseByUptime = "lease_by_uptime",
        /// A lease ends by the wall.
        LeaseByTheWall = "lease_by_the_wall",
        /// Nothing is written by a node whose lease is over.
        LeaseBeforeWrite = "lease_before_write",
        /// Each launch is noted in the journal before it happens.
        JournalBeforeLaunch = "journal_before_launch",
        /// What is in the journal is in doubt after a restart, not launched again as the same attempt.
        JournalIsHeard = "journal_is_heard",
        /// The journal speaks for its own node: what another one admitted is in doubt.
        OthersAreInDoubt = "others_are_in_doubt",
        /// A run in doubt is given up where it may be delivered at most once.
        AtMostOnce = "at_most_once",
        /// A report counts only under the fence that the run carries.
        FenceOfTheRow = "fence_of_the_row",
        /// An answer counts once.
        EndsStay = "ends_stay",
        /// A batch that is sent again is done once.
        BatchOnce = "batch_once",
        /// A tick that starts ends the pending retries before it.
        SupersedeRetries = "supersede_retries",
        /// Runs of dead nodes are taken over.
        TakeOver = "take_over",
        /// Rows that are late are anybody's.
        RepairSweep = "repair_sweep",
        /// A node goes by the database's clock.
        DatabaseClock = "database_clock",
        /// Whoever follows a run gets one of its own with its end.
        ChainWithTheEnd = "chain_with_the_end",
        /// Retention leaves digests with exact counts.
        DigestsCount = "digests_count",
        /// Retention keeps failures for a time of their own.
        FailuresStayLonger = "failures_stay_longer",
        /// The audit log is sealed in its order.
        SealInOrder = "seal_in_order",
        /// A schedule whose runs are used up plans nothing more.
        SpentPlansNothing = "spent_plans_nothing",
        /// The last run of a schedule takes away what is armed beyond it.
        SpentDisarms = "spent_disarms",
        /// The last run of a schedule ends its account.
        SpentEndsTheAccount = "spent_ends_the_account",
        /// Making a schedule arms its first window.
        FirstWindow = "first_window",
        /// The ticks of a pause are decided when it ends.
        PauseIsAccounted = "pause_is_accounted",
        /// A backfill stands beside the tick, not in its place.
        BackfillBeside = "backfill_beside",
        /// Who begins to wait for what has happened meanwhile is looked at again.
        NoLostWake = "no_lost_wake",
        /// An upstream tick that failed ends the wait for it at once.
        FailedUpstream = "failed_upstream",
        /// A breaker that is half open lets one run through, by a claim.
        ProbeClaim = "probe_claim",
        /// A place under the limits of an org is taken by a claim.
        PlaceClaim = "place_claim",
        /// Due rows are taken in turns by org.
        TurnsByOrg = "turns_by_org",
        /// One bad row never fails a batch.
        OneBadRow = "one_bad_row",
        /// A message is written with the admission of its run.
        MessageWithAdmission = "message_with_admission",
        /// Each attempt has a message of its own for who deduplicates.
        EachAttemptItsMessage = "each_attempt_its_message",
        /// In a queue a run that is to be tried again keeps its turn.
        RetryKeepsItsTurn = "retry_keeps_its_turn",
        /// A worker gets runs of its own queue only.
        RightQueue = "right_queue",
        /// What a worker has taken no other one gets.
        LeasedOnce = "leased_once",
        /// A late success of any attempt closes an open run.
        LateSuccess = "late_success",
        /// Whoever took an attempt reports by the token of that attempt.
        TokenOfTheAttempt = "token_of_the_attempt",
        /// A run that somebody has taken is not in doubt when its node dies.
        TakenIsNotInDoubt = "taken_is_not_in_doubt",
        /// What somebody has taken keeps its token when its node dies.
        TakenKeepsItsToken = "taken_keeps_its_token",
        /// Retention removes no event that is not sealed.
        UnsealedStay = "unsealed_stay",
        /// No org sees anything of another.
        OrgsApart = "orgs_apart",
        /// A check of the audit log names what is not sealed yet.
        TailIsNamed = "tail_is_named",
        /// Names are each org's own.
        NamesByOrg = "names_by_org",
        /// What is shown as the next run is the earliest tick that is armed or computed.
        NextIsTheEarliest = "next_is_the_earliest",
        /// The key of a tick is the hash of its schedule and its instant.
        KeyOfTheTick = "key_of_the_tick",
        /// Newer rules of a zone leave alone what has come already.
        NewerRulesFromNow = "newer_rules_from_now",
        /// What newer rules of a zone move is told.
        NewerRulesAreTold = "newer_rules_are_told",
        /// A node counts its lease as over somewhat before others do.
        LeaseMargin = "lease_margin",
        /// An unanswered commit is repeated with its id.
        SameIdAgain = "same_id_again",
        /// What others are about to give up is not launched any more.
        LaunchInTime = "launch_in_time",
        /// A flight is launched with the hand-over that it is of.
        FlightOfItsHandOver = "flight_of_its_hand_over",
        /// An old answer about the database's clock is not the present.
        OldAnswersAreOld = "old_answers_are_old",
        /// Instants and anchors round up to whole seconds. It is kept by `punctual-time`.
        RoundUp = "round_up",
        /// The anchor of an interval stays with it.
        AnchorStays = "anchor_stays",
        /// A delay becomes an instant when it is stored.
        DelayOnce = "delay_once",
        /// What is proved is ticks, and no backfills.
        ProofCountsTicks = "proof_counts_ticks",
        /// The answer to a pause lists what was admitted before.
        PauseTells = "pause_tells",
        /// Schedules of a calendar that changes are decided again.
        CalendarDecidesAgain = "calendar_decides_again",
        /// While a server has the file, commands ask it to write.
        ServerWrites = "server_writes",
        /// One process serves a file.
        OneServes = "one_serves",
        /// Changes by other processes are seen.
        OthersAreSeen = "others_are_seen",
        /// Claims are exclusive by rows, whatever was read before.
        ClaimsByRows = "claims_by_rows",
        /// Rows are held in one order.
        OneOrder = "one_order",
        /// A batch whose commit was not answered is found by its id.
        BatchIsFound = "batch_is_found",
        /// Hot statements go from their keys into an index, whatever the statistics say.
        PlansByKeys = "plans_by_keys",
        /// Nothing outlives a transaction.
        NothingOutlives = "nothing_outlives",
        /// The server itself keeps the rows of orgs apart.
        SecuredByOrg = "secured_by_org",
        /// What is committed late is sealed all the same.
        LateIsSealed = "late_is_sealed",
        /// A message has its place from when its transaction is over, not from when it was written.
        PlacesAfterCommit = "places_after_commit",
        /// Whoever is told nothing of a change looks by itself.
        LooksUntold = "looks_untold",
        /// The keys of tables begin with the org, so that a duplicate tells nothing of another.
        KeysNameTheOrg = "keys_name_the_org",
        /// The writer of a file leaves room for others.
        RoomForOthers = "room_for_others",
    }
}

#[cfg(feature = "rule-switches")]
std::thread_local! {
    static OUT: core::cell::Cell<Option<Rule>> = const { core::cell::Cell::new(None) };
}

/// Takes a rule out for this thread, or puts it back.
#[cfg(feature = "rule-switches")]
pub fn take_out(rule: Option<Rule>) {
    OUT.set(rule);
}

/// The rule that is out for this whole process.
#[cfg(feature = "rule-switches")]
static OUT_EVERYWHERE: std::sync::LazyLock<Option<Rule>> =
    std::sync::LazyLock::new(|| punctual_time::rule::out()?.parse().ok());

/// Whether a rule is kept.
#[cfg(feature = "rule-switches")]
pub fn holds(rule: Rule) -> bool {
    OUT.get() != Some(rule) && *OUT_EVERYWHERE != Some(rule)
}

/// Whether a rule is kept: outside of tests, always.
///
/// ```
/// use punctual_plan::rule::{Rule, holds};
///
/// assert!(Rule::ALL.iter().all(|rule| holds(*rule)));
/// ```
#[cfg(not(feature = "rule-switches"))]
#[inline(always)]
pub const fn holds(_: Rule) -> bool {
    true
}
