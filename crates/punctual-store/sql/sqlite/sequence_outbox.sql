-- One writer at a time gives `seq`, so it is also the order of the commits.
UPDATE outbox SET position = seq WHERE position IS NULL
