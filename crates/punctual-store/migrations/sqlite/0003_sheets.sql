-- Starts that were committed together and are no rows of their own yet. Whoever writes next unfolds them first, so
-- nobody who writes ever sees one; who only reads sees their runs as scheduled for a moment longer.
CREATE TABLE sheets (
    key    INTEGER PRIMARY KEY,
    fence  INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    -- One entry of fixed length for each start: see `sheet.rs`.
    starts BLOB    NOT NULL
) STRICT;
