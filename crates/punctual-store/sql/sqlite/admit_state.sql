-- The schedule's part of a start: its lane, if the start needs that, and what is counted; only while the row
-- is open and its attempt is the one that was judged, and not before what has ended by an instant is counted.
UPDATE schedule_state
SET active_run = CASE WHEN ?3 THEN ?2 ELSE active_run END,
    admitted = admitted + ?4,
    last_start = ?5,
    anchor_start = CASE WHEN ?8 THEN ?5 ELSE anchor_start END,
    launched_through = CASE WHEN ?6 IS NULL THEN launched_through ELSE max(coalesce(launched_through, ?6), ?6) END
WHERE schedule = ?1 AND (active_run IS NULL OR NOT ?3)
  AND EXISTS (SELECT 1 FROM runs WHERE key = ?2 AND attempt = ?7 - 1
    AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying'))
  AND NOT EXISTS (SELECT 1 FROM runs AS r
    WHERE r.schedule = ?1 AND r.scheduled_for > coalesce(launched_through, -9223372036854775808) AND r.scheduled_for <= ?9
      AND r.key <> ?2 AND r.origin = 'tick' AND r.status = 'success')
