-- Plainly closed breakers have no row: in a healthy installation this asks nothing of each target.
SELECT b.org, b.target, b.state, b.failures, b.until, b.probe
FROM unnest($1::bigint[], $2::text[]) AS d (org, target)
JOIN circuit_breakers b ON b.org = d.org AND b.target = d.target
WHERE EXISTS (SELECT 1 FROM circuit_breakers any_of WHERE any_of.org = ANY ($1::bigint[]))
