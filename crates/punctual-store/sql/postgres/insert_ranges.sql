INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, version, recorded_at)
SELECT d.schedule, d.first, d.last, d.org, d.count, d.status, d.reason, d.detail, d.version, $10::bigint
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
            $9::bigint[]) AS d (schedule, first, last, org, count, status, reason, detail, version)
ON CONFLICT (schedule, first) DO NOTHING
