-- What of a schedule is in flight, waits or is to be repeated is found without a look at all that is armed.
DROP INDEX runs_open;
CREATE INDEX runs_open ON runs (schedule, status) WHERE look_at IS NOT NULL;
