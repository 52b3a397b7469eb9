WITH taken AS (
    UPDATE circuit_breakers b SET state = 'half_open', probe = d.run, changed_at = $4::bigint
    FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS d (org, target, run)
    WHERE b.org = d.org AND b.target = d.target AND b.state = 'open' AND b.until <= $4::bigint
    RETURNING b.org, b.target, b.probe
)
INSERT INTO circuit_breaker_transitions (org, target, at, from_state, to_state, run)
SELECT t.org, t.target, $4::bigint, 'open', 'half_open', t.probe FROM taken t
RETURNING run
