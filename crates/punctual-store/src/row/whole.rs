//! The database as a whole: its state, its tables, what a check finds.

/// What there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseStatus {
    /// Where it is, without passwords.
    pub place: String,
    /// The schema it has.
    pub schema: i64,
    /// The tz database it has seen.
    pub tz_version: String,
    /// Its size in bytes, as far as it can be told.
    pub bytes: u64,
    /// How many rows each table has.
    pub rows: Vec<(Table, u64)>,
}

/// Something that the promises exclude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The table.
    pub table: &'static str,
    /// Which row or rows.
    pub row: String,
    /// What is wrong.
    pub what: String,
}

/// Makes the enum with the tables' names.
macro_rules! tables {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)+) => {
        /// A table, in an order in which they can be filled.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Table { $($(#[$meta])* $variant,)+ }

        impl Table {
            /// All that are copied, in the order in which they can be filled.
            pub const ALL: &'static [Table] = &[$(Table::$variant,)+];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Table::$variant => $name,)+ }
            }
        }
    };
}

impl Table {
    /// How many of its first columns are its key.
    pub fn key_columns(self) -> usize {
        match self {
            Self::ScheduleUses => 4,
            Self::Users
            | Self::Tokens
            | Self::Calendars
            | Self::QuietHours
            | Self::Templates
            | Self::Workflows
            | Self::Secrets
            | Self::Limits
            | Self::DeclaredSets
            | Self::Maintenance
            | Self::ScheduleVersions
            | Self::Attempts
            | Self::RunRanges
            | Self::AuditSeals
            | Self::CircuitBreakers
            | Self::Guards
            | Self::Lanes
            | Self::Requests => 2,
            _ => 1,
        }
    }
}

tables! {
    /// Versions of the tz database.
    TzVersions = "tz_versions",
    /// Tenants.
    Orgs = "orgs",
    /// People and agents.
    Users = "users",
    /// API tokens.
    Tokens = "tokens",
    /// Calendars.
    Calendars = "calendars",
    /// Quiet hours.
    QuietHours = "quiet_hours_policies",
    /// Templates.
    Templates = "templates",
    /// Workflows.
    Workflows = "workflows",
    /// Secrets.
    Secrets = "secrets",
    /// Limits.
    Limits = "limits",
    /// Declared sets.
    DeclaredSets = "declared_sets",
    /// Pauses of whole orgs.
    Maintenance = "maintenance",
    /// Definitions.
    Schedules = "schedules",
    /// Their versions.
    ScheduleVersions = "schedule_versions",
    /// What they use.
    ScheduleUses = "schedule_uses",
    /// Cursors and counters.
    ScheduleState = "schedule_state",
    /// The ledger.
    Runs = "runs",
    /// Attempts of runs.
    Attempts = "attempts",
    /// Stretches of the ledger.
    RunRanges = "run_ranges",
    /// The audit log.
    AuditEvents = "audit_events",
    /// Its seals.
    AuditSeals = "audit_seals",
    /// Messages.
    Outbox = "outbox",
    /// Breakers.
    CircuitBreakers = "circuit_breakers",
    /// Their moves.
    CircuitBreakerTransitions = "circuit_breaker_transitions",
    /// Guards that are held.
    Guards = "guards",
    /// Shared lanes that are held.
    Lanes = "lanes",
    /// What orgs have used.
    OrgUse = "org_use",
    /// Answers to requests.
    Requests = "requests",
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A number or an instant.
    Integer(i64),
    /// Text.
    Text(String),
}
