INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, counts, version, recorded_at)
SELECT d.schedule, d.first, d.last, d.org, d.count, 'skipped', $8::text, $9::text, d.counts, d.version, $10::bigint
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
    AS d (schedule, first, last, org, count, counts, version)
ON CONFLICT (schedule, first) DO UPDATE
SET last = excluded.last, count = excluded.count, counts = excluded.counts, recorded_at = excluded.recorded_at
