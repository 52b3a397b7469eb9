INSERT INTO outbox (org, run, attempt, message_id, body, at)
SELECT d.org, d.run, d.attempt, d.id, d.body, $6::bigint
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) AS d (org, run, attempt, id, body)
ON CONFLICT (org, run, attempt) DO NOTHING
