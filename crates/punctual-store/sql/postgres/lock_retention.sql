-- Two nodes that extend one digest would each forget what the other counted.
SELECT pg_advisory_xact_lock(7240813)
