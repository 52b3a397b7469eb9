-- What a rule forbids, for the test that must notice it.
CREATE UNIQUE INDEX IF NOT EXISTS schedules_anywhere ON schedules (id)
