-- The tables of the storage study: narrow state, key in the order of time.
CREATE TABLE state (id INTEGER PRIMARY KEY, next_run_at INTEGER, last_run_at INTEGER, enabled INTEGER NOT NULL);
CREATE INDEX state_due ON state (next_run_at) WHERE enabled = 1;
CREATE TABLE runs (
    id          INTEGER PRIMARY KEY,
    idem        BLOB    NOT NULL UNIQUE,
    schedule_id INTEGER NOT NULL,
    planned_at  INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    payload     TEXT    NOT NULL,
    created_at  INTEGER NOT NULL
);
CREATE INDEX runs_sched ON runs (schedule_id, planned_at);
