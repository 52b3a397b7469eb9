-- One that was launched before cannot be skipped any more: it fails.
UPDATE runs r
SET status = CASE WHEN d.status = 'skipped' AND r.attempt > 0 THEN 'failed' ELSE d.status END, reason = d.reason,
    detail = d.detail, look_at = NULL, completed_at = $5::bigint
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS d (run, status, reason, detail)
WHERE r.key = d.run AND r.status = ANY ($6::text[])
RETURNING r.key, r.schedule, r.org, r.origin, r.scheduled_for, r.status
