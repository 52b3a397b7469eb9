INSERT INTO attempts (run, number, org, started_at, ended_at, reason, detail, output, token)
SELECT d.run, d.number, d.org, d.started_at, d.ended_at, d.reason, d.detail, d.output, d.token
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
            $9::text[]) AS d (run, number, org, started_at, ended_at, reason, detail, output, token)
ON CONFLICT (run, number) DO UPDATE
SET ended_at = excluded.ended_at, reason = excluded.reason, detail = excluded.detail,
    output = coalesce(excluded.output, attempts.output)
