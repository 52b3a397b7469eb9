UPDATE runs r
SET status = CASE WHEN d.kind IS NULL THEN r.status ELSE 'waiting' END, look_at = d.look_at,
    fire_at = CASE WHEN d.kind IS NULL AND r.status = 'scheduled' THEN d.look_at ELSE r.fire_at END,
    wait_kind = coalesce(d.kind, r.wait_kind), wait_for = coalesce(d.what, r.wait_for),
    wait_since = coalesce(d.since, r.wait_since), wait_until = coalesce(d.until, r.wait_until)
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
    AS d (run, look_at, kind, what, since, until)
WHERE r.key = d.run AND r.status = ANY ($7::text[])
RETURNING r.key
