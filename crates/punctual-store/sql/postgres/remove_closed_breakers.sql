DELETE FROM circuit_breakers b USING unnest($1::bigint[], $2::text[]) AS d (org, target)
WHERE b.org = d.org AND b.target = d.target AND b.state = 'closed' AND b.failures = 0
