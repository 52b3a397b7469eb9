-- The first attempt of a row that did not wait.
UPDATE runs
SET status = 'enqueued', attempt = ?2, fence = ?3, enqueued_at = ?4, look_at = ?5,
    traceparent = coalesce(?6, traceparent), token = ?7
WHERE key = ?1 AND attempt = ?2 - 1 AND (status = 'scheduled' OR status = 'waiting' OR status = 'retrying')
