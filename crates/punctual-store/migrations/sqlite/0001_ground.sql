-- The ground. Instants are UTC microseconds since 1970; `scheduled_for`, `launched_through`, `first`, `last` and `next_tick` are whole UTC
-- seconds. The tables and columns are the same in every database, so that one can be copied into another.

CREATE TABLE installation (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    -- Raised whenever a node joins; a write with an older number changes nothing.
    fence      INTEGER NOT NULL,
    -- The newest tz database that planned here: a node with an older one does not plan.
    tz         INTEGER NOT NULL
) STRICT;

CREATE TABLE tz_versions (
    key     INTEGER PRIMARY KEY,
    version TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE nodes (
    fence       INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    pid         INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL,
    lease_us    INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    tz_version  TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    left_at     INTEGER,
    -- What the database's clock was ahead of the node's at its last heartbeat.
    ahead_us    INTEGER
) STRICT;

CREATE TABLE shard_leases (
    shard INTEGER PRIMARY KEY,
    fence INTEGER NOT NULL,
    epoch INTEGER NOT NULL
) STRICT;

-- A batch whose answer was lost is sent again under the same id and finds the first answer.
CREATE TABLE batches (
    id     TEXT    PRIMARY KEY,
    at     INTEGER NOT NULL,
    answer TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX batches_age ON batches (at);

CREATE TABLE orgs (
    key        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE CHECK (id <> ''),
    created_at INTEGER NOT NULL
) STRICT;

-- Shared things, all of one shape: a name, a version, a body of JSON.
CREATE TABLE users (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE calendars (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE quiet_hours_policies (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE templates (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflows (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE secrets (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE limits (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE declared_sets (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE maintenance (
    org INTEGER NOT NULL REFERENCES orgs (key), name TEXT NOT NULL CHECK (name <> ''), version INTEGER NOT NULL,
    body TEXT NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (org, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    org        INTEGER NOT NULL REFERENCES orgs (key),
    id         TEXT    NOT NULL,
    hash       TEXT    NOT NULL UNIQUE,
    user_id    TEXT,
    scopes     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    PRIMARY KEY (org, id)
) STRICT, WITHOUT ROWID;

-- What a schedule is found by: cold. The definition itself is in its versions; these columns are copies to search by.
CREATE TABLE schedules (
    key          INTEGER PRIMARY KEY,
    org          INTEGER NOT NULL REFERENCES orgs (key),
    id           TEXT    NOT NULL,
    name         TEXT    NOT NULL CHECK (name <> ''),
    user_id      TEXT,
    description  TEXT,
    tags         TEXT    NOT NULL,
    spec         TEXT    NOT NULL,
    declared_set TEXT,
    version      INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    deleted_at   INTEGER,
    UNIQUE (org, id)
) STRICT;

-- A deleted schedule keeps its history and frees its name.
CREATE INDEX schedules_history ON schedules (org, name);
CREATE UNIQUE INDEX schedules_name ON schedules (org, name) WHERE deleted_at IS NULL;

CREATE TABLE schedule_versions (
    schedule   INTEGER NOT NULL REFERENCES schedules (key),
    version    INTEGER NOT NULL,
    org        INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    made_by    TEXT,
    definition TEXT    NOT NULL,
    PRIMARY KEY (schedule, version)
) STRICT, WITHOUT ROWID;

-- What a living schedule refers to by name: `calendar`, `quiet_hours`, and by id: `chain`, `dependency`.
CREATE TABLE schedule_uses (
    org      INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    schedule INTEGER NOT NULL REFERENCES schedules (key),
    PRIMARY KEY (org, kind, name, schedule)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedule_uses_user ON schedule_uses (schedule);

-- How far a schedule is planned and what its runs came to: hot.
CREATE TABLE schedule_state (
    schedule             INTEGER PRIMARY KEY REFERENCES schedules (key),
    org                  INTEGER NOT NULL,
    shard                INTEGER NOT NULL,
    version              INTEGER NOT NULL,
    status               TEXT    NOT NULL,
    status_detail        TEXT    NOT NULL DEFAULT '',
    left_at              INTEGER,
    spent_at             INTEGER,
    planned_through      INTEGER NOT NULL,
    decided_through      INTEGER NOT NULL,
    -- The first tick after `planned_through`; none when there is nothing left to plan.
    next_tick            INTEGER,
    -- When it wants planning; none while it is not active.
    plan_at              INTEGER,
    -- The run that holds the schedule's lane: at most one is enqueued or running.
    active_run           INTEGER,
    launched_through     INTEGER,
    admitted             INTEGER NOT NULL DEFAULT 0,
    run_count            INTEGER NOT NULL DEFAULT 0,
    success_count        INTEGER NOT NULL DEFAULT 0,
    failure_count        INTEGER NOT NULL DEFAULT 0,
    consecutive_failures INTEGER NOT NULL DEFAULT 0,
    last_start           INTEGER,
    last_finish          INTEGER,
    last_status          TEXT,
    last_success_at      INTEGER,
    last_success_run     INTEGER,
    -- When a tick was last launched for the first time, and when one last ended: intervals hang on them.
    anchor_start         INTEGER,
    anchor_finish        INTEGER
) STRICT;

-- A schedule as it is shown, with what it can be found by.
CREATE VIEW schedule_rows AS
SELECT s.key, s.created_at, s.updated_at, s.deleted_at, s.declared_set, st.version, st.status, st.status_detail, st.left_at,
       st.spent_at, st.planned_through, st.decided_through, st.next_tick, st.launched_through, st.admitted, st.run_count,
       st.success_count, st.failure_count, st.consecutive_failures, st.last_start, st.last_finish, st.last_status,
       st.last_success_at, st.last_success_run, st.anchor_start, st.anchor_finish,
       (SELECT r.scheduled_for FROM runs AS r
        WHERE r.schedule = s.key AND r.scheduled_for >= st.decided_through / 1000000 - 120 AND r.status = 'scheduled'
          AND r.reason IS NULL
        ORDER BY r.scheduled_for LIMIT 1) AS armed,
       (SELECT count(*) FROM runs AS r
        WHERE r.schedule = s.key
          AND (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying') AND r.origin = 'tick'
          AND r.attempt > 0) AS launched,
       s.org, s.id, s.name, s.description, s.spec, s.tags, s.user_id
FROM schedules AS s
JOIN schedule_state AS st ON st.schedule = s.key;

CREATE INDEX schedule_state_plannable ON schedule_state (plan_at, shard) WHERE plan_at IS NOT NULL;

-- The ledger.
CREATE TABLE runs (
    -- Never given twice, even when the row of a future tick vanished: it is the run's public id.
    key             INTEGER PRIMARY KEY AUTOINCREMENT,
    scheduled_for   INTEGER NOT NULL,
    org             INTEGER NOT NULL,
    schedule        INTEGER NOT NULL,
    origin          TEXT    NOT NULL,
    nonce           TEXT    NOT NULL,
    shard           INTEGER NOT NULL,
    fire_at         INTEGER NOT NULL,
    -- When it wants to be looked at: its instant, the end of its wait, its next attempt, or its deadline in flight.
    look_at         INTEGER,
    status          TEXT    NOT NULL,
    reason          TEXT,
    detail          TEXT,
    version         INTEGER NOT NULL,
    tz              INTEGER NOT NULL,
    attempt         INTEGER NOT NULL DEFAULT 0,
    is_forced       INTEGER NOT NULL DEFAULT 0,
    wait_kind       TEXT,
    wait_for        TEXT,
    wait_since      INTEGER,
    wait_until      INTEGER,
    fence           INTEGER,
    queue           TEXT,
    token           TEXT,
    enqueued_at     INTEGER,
    started_at      INTEGER,
    completed_at    INTEGER,
    executor_run_id TEXT,
    -- What a request adds to what its schedule's runs carry.
    payload         TEXT,
    -- The guarantee: one entry per tick, whoever plans it and however often. Time first, so inserts append.
    UNIQUE (scheduled_for, org, schedule, origin, nonce)
) STRICT;

CREATE INDEX runs_history ON runs (schedule, scheduled_for);
CREATE INDEX runs_look ON runs (look_at, shard, org) WHERE look_at IS NOT NULL;
-- Rows that hold or await something: few, so that planning writes nothing here. Written without `IN`, for which SQLite
-- would make a table of its own with each row; queries repeat these words to use it.
CREATE INDEX runs_busy ON runs (schedule) WHERE
  (status = 'enqueued' OR status = 'running' OR status = 'waiting' OR status = 'retrying');
-- A request or an upstream run brings about one run, whenever it is repeated.
CREATE UNIQUE INDEX runs_asked ON runs (schedule, origin, nonce) WHERE nonce <> '';
-- What a row waited for is kept after its wait.
CREATE INDEX runs_waiting ON runs (org, wait_kind, wait_for) WHERE status = 'waiting';
CREATE INDEX runs_queue ON runs (org, queue, fire_at) WHERE queue IS NOT NULL AND status = 'enqueued';

-- An attempt that was repeated, or that printed something; the last attempt of a silent run is in its row alone.
CREATE TABLE attempts (
    run        INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    org        INTEGER NOT NULL,
    started_at INTEGER,
    ended_at   INTEGER,
    reason     TEXT,
    detail     TEXT,
    output     TEXT,
    -- What the holder of the attempt shows; none if a node ran it itself.
    token      TEXT,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

-- Long stretches of equal non-fires, written only together with the cursor that passes them; and what retention leaves
-- of rows, with `counts` of their states as JSON.
CREATE TABLE run_ranges (
    schedule    INTEGER NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL CHECK (last >= first),
    org         INTEGER NOT NULL,
    count       INTEGER NOT NULL CHECK (count > 0),
    status      TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    detail      TEXT    NOT NULL,
    counts      TEXT,
    version     INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (schedule, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_events (
    seq      INTEGER PRIMARY KEY AUTOINCREMENT,
    org      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    actor    TEXT,
    kind     TEXT    NOT NULL,
    schedule INTEGER,
    run      INTEGER,
    detail   TEXT    NOT NULL
) STRICT;

CREATE INDEX audit_events_org ON audit_events (org, seq);
CREATE INDEX audit_events_schedule ON audit_events (schedule, seq) WHERE schedule IS NOT NULL;

CREATE TRIGGER audit_events_never_change BEFORE UPDATE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;

-- Retention alone removes events, and only sealed ones: the seals stay.
CREATE TRIGGER audit_events_never_vanish BEFORE DELETE ON audit_events
WHEN NOT EXISTS (SELECT 1 FROM retention_pass WHERE through >= OLD.seq)
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;

CREATE TABLE retention_pass (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    through INTEGER NOT NULL
) STRICT;

-- The hash chain of an org: `hash` is SHA-256 over the hash before it and the event.
CREATE TABLE audit_seals (
    org      INTEGER NOT NULL,
    position INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    hash     TEXT    NOT NULL,
    PRIMARY KEY (org, position)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX audit_seals_event ON audit_seals (org, seq);

-- Messages, written by admission; `position` is given after the commit, so that a reader loses none.
CREATE TABLE outbox (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    org        INTEGER NOT NULL,
    run        INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    message_id TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    position   INTEGER UNIQUE,
    UNIQUE (org, run, attempt)
) STRICT;

CREATE INDEX outbox_new ON outbox (seq) WHERE position IS NULL;

CREATE TABLE circuit_breakers (
    org        INTEGER NOT NULL,
    target     TEXT    NOT NULL,
    state      TEXT    NOT NULL,
    failures   INTEGER NOT NULL,
    until      INTEGER,
    probe      INTEGER,
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (org, target)
) STRICT, WITHOUT ROWID;

CREATE TABLE circuit_breaker_transitions (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    org        INTEGER NOT NULL,
    target     TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    from_state TEXT    NOT NULL,
    to_state   TEXT    NOT NULL,
    run        INTEGER
) STRICT;

CREATE INDEX circuit_breaker_transitions_target ON circuit_breaker_transitions (org, target, seq);

CREATE TABLE guards (
    org INTEGER NOT NULL,
    key TEXT    NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX guards_run ON guards (run);

CREATE TABLE lanes (
    org INTEGER NOT NULL,
    key TEXT    NOT NULL,
    run INTEGER NOT NULL,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX lanes_run ON lanes (run);

-- What an org has used of its limits; kept only for orgs that have some.
CREATE TABLE org_use (
    org        INTEGER PRIMARY KEY,
    minute     INTEGER NOT NULL,
    per_minute INTEGER NOT NULL,
    in_flight  INTEGER NOT NULL
) STRICT;

CREATE TABLE requests (
    org      INTEGER NOT NULL,
    key      TEXT    NOT NULL,
    question TEXT    NOT NULL,
    answer   TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (org, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_age ON requests (at);
