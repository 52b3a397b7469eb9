-- The tables of the storage study: narrow state, key in the order of time.
CREATE TABLE state (id BIGINT PRIMARY KEY, next_run_at BIGINT, last_run_at BIGINT, enabled BOOLEAN NOT NULL);
CREATE INDEX state_due ON state (next_run_at) WHERE enabled;
CREATE TABLE runs (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    idem        BYTEA  NOT NULL UNIQUE,
    schedule_id BIGINT NOT NULL,
    planned_at  BIGINT NOT NULL,
    status      SMALLINT NOT NULL,
    payload     TEXT   NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE INDEX runs_sched ON runs (schedule_id, planned_at);
