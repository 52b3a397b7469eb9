-- The runs that an earlier node left in flight now answer to this one.
UPDATE runs SET fence = ?1 WHERE status IN ('enqueued', 'running') AND fence < ?1
