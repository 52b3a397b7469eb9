//! The list of all fail points. It stands alone, so that a tool can take it in without building the program.

macro_rules! points {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $place:ident,)+) => {
        /// A place at which a kill tells most.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FailPoint {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl FailPoint {
            /// All of them, in the order of a tick's life.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// How it is called where it is armed.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Who passes it.
            pub const fn place(self) -> Place {
                match self {
                    $(Self::$variant => Place::$place,)+
                }
            }
        }
    };
}

/// Who passes a fail point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A server, on either database.
    Serve,
    /// A server on SQLite.
    ServeSqlite,
    /// A server on PostgreSQL.
    ServePostgres,
    /// A server whose database is new.
    Migrate,
    /// A worker of a queue.
    Worker,
}

points! {
    /// The schema is half made: a step of it is done, in a transaction that is open.
    MigrateStep = "migrate_step" in Migrate,
    /// The schema is made, in a transaction that is open.
    MigrateBeforeCommit = "migrate_before_commit" in Migrate,
    /// The node has its lease, and has not looked at what was left.
    Joined = "joined" in Serve,
    /// What was left is held under the new lease, and nothing is said of it.
    RecoverTaken = "recover_taken" in Serve,
    /// What was left is settled, and nothing of it is launched.
    RecoverSettled = "recover_settled" in Serve,
    /// The journal that begins anew is written beside the old one.
    JournalRewrite = "journal_rewrite" in Serve,
    /// A plan is made.
    PlanBeforeCommit = "plan_before_commit" in Serve,
    /// A plan is committed, and nobody knows.
    PlanAfterCommit = "plan_after_commit" in Serve,
    /// Verdicts over due rows are made.
    AdmitBeforeCommit = "admit_before_commit" in Serve,
    /// Runs are admitted; the journal has none of them.
    AdmitAfterCommit = "admit_after_commit" in Serve,
    /// A herd is carried out up to its commit, before its instant: its rows are held.
    HeldBeforeInstant = "held_before_instant" in ServePostgres,
    /// The instant of a herd that was judged ahead has come.
    AheadBeforeCommit = "ahead_before_commit" in Serve,
    /// A herd is admitted; the journal has none of it.
    AheadAfterCommit = "ahead_after_commit" in Serve,
    /// Starts were committed on a sheet, and some of them are in their rows, in a transaction that is open.
    SheetUnfolding = "sheet_unfolding" in ServeSqlite,
    /// A run that was admitted is about to be noted in the journal.
    LaunchBeforeNote = "launch_before_note" in Serve,
    /// The journal has a run; it is not launched.
    LaunchAfterNote = "launch_after_note" in Serve,
    /// A program was started, or a request is being sent; nobody was told.
    LaunchStarted = "launch_started" in Serve,
    /// An attempt has ended; nothing has noted that.
    LaunchEnded = "launch_ended" in Serve,
    /// Attempts that go on are marked; their next word is their end.
    MarkAfterCommit = "mark_after_commit" in Serve,
    /// Ends are in the journal, and not in the ledger.
    SettleBeforeCommit = "settle_before_commit" in Serve,
    /// Ends are in the ledger; the journal still has their runs.
    SettleAfterCommit = "settle_after_commit" in Serve,
    /// Any transaction: everything is written, nothing is committed.
    StoreBeforeCommit = "store_before_commit" in Serve,
    /// Any transaction: it is committed, and whoever asked for it does not know.
    StoreAfterCommit = "store_after_commit" in Serve,
    /// The lease is about to be renewed.
    BeatBefore = "beat_before" in Serve,
    /// The lease is renewed, and the node does not know.
    BeatAfter = "beat_after" in Serve,
    /// What dead nodes left is held under this lease, and nothing is said of it.
    TakeUpTaken = "take_up_taken" in Serve,
    /// Messages have their places; the events of the same moment are not sealed.
    OutboxOrdered = "outbox_ordered" in Serve,
    /// Events are sealed, and nobody knows.
    AuditSealed = "audit_sealed" in Serve,
    /// Old rows are about to become digests.
    RetainBefore = "retain_before" in Serve,
    /// Old rows are digests, and nobody knows.
    RetainAfter = "retain_after" in Serve,
    /// A worker has taken runs, and has begun none.
    WorkerTaken = "worker_taken" in Worker,
    /// A command of a worker has ended, and nobody was told.
    WorkerEnded = "worker_ended" in Worker,
}
