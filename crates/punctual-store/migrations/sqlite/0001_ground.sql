-- The ground: schedules, how far each is planned, the ledger of its ticks, and what was done to them.
-- Instants are UTC microseconds since 1970; `scheduled_for` and `next_tick` are whole UTC seconds.

CREATE TABLE installation (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    -- Raised whenever a node takes over; a write with an older number changes nothing.
    fence      INTEGER NOT NULL,
    tz_version TEXT    NOT NULL
) STRICT;

CREATE TABLE nodes (
    fence      INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    pid        INTEGER NOT NULL,
    started_at INTEGER NOT NULL
) STRICT;

CREATE TABLE orgs (
    key INTEGER PRIMARY KEY,
    id  TEXT NOT NULL UNIQUE CHECK (id <> '')
) STRICT;

INSERT INTO orgs (key, id) VALUES (1, 'default');

CREATE TABLE schedules (
    key        INTEGER PRIMARY KEY,
    org        INTEGER NOT NULL REFERENCES orgs (key),
    id         TEXT    NOT NULL,
    name       TEXT    NOT NULL CHECK (name <> ''),
    dialect    TEXT    NOT NULL,
    spec       TEXT    NOT NULL,
    timezone   TEXT    NOT NULL,
    target     TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    UNIQUE (org, id)
) STRICT;

-- A deleted schedule keeps its history and frees its name.
CREATE INDEX schedules_history ON schedules (org, name);
CREATE UNIQUE INDEX schedules_name ON schedules (org, name) WHERE deleted_at IS NULL;

CREATE TABLE schedule_state (
    schedule        INTEGER PRIMARY KEY REFERENCES schedules (key),
    version         INTEGER NOT NULL,
    planned_through INTEGER NOT NULL,
    decided_through INTEGER NOT NULL,
    -- The first tick after `planned_through`; none when there is nothing left to plan.
    next_tick       INTEGER,
    -- The run that holds the schedule: at most one is enqueued or running.
    active_run      INTEGER,
    run_count       INTEGER NOT NULL DEFAULT 0,
    success_count   INTEGER NOT NULL DEFAULT 0,
    failure_count   INTEGER NOT NULL DEFAULT 0,
    last_run_at     INTEGER,
    last_run_status TEXT
) STRICT;

CREATE INDEX schedule_state_plannable ON schedule_state (next_tick) WHERE next_tick IS NOT NULL;

CREATE TABLE runs (
    -- Never given twice, even when the row of a future tick vanished: it is the run's public id.
    key           INTEGER PRIMARY KEY AUTOINCREMENT,
    scheduled_for INTEGER NOT NULL,
    org           INTEGER NOT NULL,
    schedule      INTEGER NOT NULL,
    origin        TEXT    NOT NULL,
    nonce         TEXT    NOT NULL,
    fire_at       INTEGER NOT NULL,
    status        TEXT    NOT NULL,
    reason        TEXT,
    detail        TEXT,
    version       INTEGER NOT NULL,
    attempt       INTEGER NOT NULL DEFAULT 0,
    fence         INTEGER,
    enqueued_at   INTEGER,
    started_at    INTEGER,
    completed_at  INTEGER,
    output        TEXT,
    -- The guarantee: one entry per tick, whoever plans it and however often. Time first, so inserts append.
    UNIQUE (scheduled_for, org, schedule, origin, nonce)
) STRICT;

CREATE INDEX runs_history ON runs (schedule, scheduled_for);
CREATE INDEX runs_due ON runs (fire_at) WHERE status = 'scheduled';
CREATE INDEX runs_in_flight ON runs (fence) WHERE status IN ('enqueued', 'running');

-- Long stretches of equal non-fires, written only together with the cursor that passes them.
CREATE TABLE run_ranges (
    org         INTEGER NOT NULL,
    schedule    INTEGER NOT NULL,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL CHECK (last >= first),
    count       INTEGER NOT NULL CHECK (count > 0),
    status      TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    detail      TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (schedule, first)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_events (
    seq      INTEGER PRIMARY KEY,
    org      INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    schedule INTEGER NOT NULL,
    detail   TEXT    NOT NULL
) STRICT;

CREATE TRIGGER audit_events_never_change BEFORE UPDATE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;

CREATE TRIGGER audit_events_never_vanish BEFORE DELETE ON audit_events
BEGIN
    SELECT RAISE(ABORT, 'audit events are append-only');
END;

-- A schedule as it is shown, with when it runs next.
CREATE VIEW schedule_rows AS
SELECT s.key, s.id, o.id AS org_id, s.name, s.dialect, s.spec, s.timezone, s.target, s.version, s.created_at,
       s.updated_at, s.deleted_at, st.run_count, st.success_count, st.failure_count, st.last_run_at,
       st.last_run_status,
       coalesce((SELECT min(r.scheduled_for) FROM runs AS r
                 WHERE r.schedule = s.key AND r.status = 'scheduled'), st.next_tick) AS next_run_at,
       s.org
FROM schedules AS s
JOIN orgs AS o ON o.key = s.org
JOIN schedule_state AS st ON st.schedule = s.key;
