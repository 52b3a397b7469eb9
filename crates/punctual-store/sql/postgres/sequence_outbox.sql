UPDATE outbox o SET position = n.position
FROM (
    SELECT w.seq, nextval('outbox_position') AS position
    FROM (SELECT seq FROM outbox WHERE position IS NULL ORDER BY seq LIMIT $1::bigint) w
    ORDER BY w.seq
) n
WHERE o.seq = n.seq
