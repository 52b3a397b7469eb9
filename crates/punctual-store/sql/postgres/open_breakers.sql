-- Those that let nothing through, or a probe only; there are few, whatever the number of targets.
SELECT b.org, b.target FROM circuit_breakers b WHERE b.org = ANY ($1::bigint[]) AND b.state <> 'closed'
