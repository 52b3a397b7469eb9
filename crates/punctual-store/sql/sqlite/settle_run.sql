-- Ends a run; of one that was on a sheet, its start as well.
UPDATE runs
SET status = ?2, reason = ?3, detail = ?4, started_at = coalesce(?5, started_at), completed_at = ?6, look_at = NULL,
    attempt = CASE WHEN ?7 IS NULL THEN attempt ELSE 1 END, fence = coalesce(?7, fence),
    enqueued_at = coalesce(?8, enqueued_at), traceparent = coalesce(?9, traceparent)
WHERE key = ?1
