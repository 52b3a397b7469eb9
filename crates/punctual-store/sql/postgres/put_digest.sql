INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, counts, version, recorded_at)
VALUES ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint, 'skipped', $6::text, $7::text, $8::text, $9::bigint,
        $10::bigint)
ON CONFLICT (schedule, first) DO UPDATE
SET last = excluded.last, count = excluded.count, counts = excluded.counts, recorded_at = excluded.recorded_at
