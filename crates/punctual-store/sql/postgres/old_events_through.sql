-- Up to the first that is young or not sealed.
SELECT max(o.seq)
FROM (
    SELECT e.seq, bool_and(e.at < $1::bigint AND s.seq IS NOT NULL) OVER (ORDER BY e.seq) AS goes
    FROM (SELECT a.seq, a.org, a.at FROM audit_events a ORDER BY a.seq LIMIT $2::bigint) e
    LEFT JOIN audit_seals s ON s.org = e.org AND s.seq = e.seq
) o
WHERE o.goes
