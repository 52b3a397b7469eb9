UPDATE runs r
SET status = d.status, reason = d.reason, detail = d.detail, look_at = d.look_at,
    started_at = coalesce(d.started_at, r.started_at), completed_at = d.completed_at
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS d (run, status, reason, detail, look_at, started_at, completed_at)
WHERE r.key = d.run
