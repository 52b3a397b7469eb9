-- How far each org's chain is sealed.
SELECT o.key, coalesce(l.position, 0), coalesce(l.seq, 0), coalesce(l.hash, '')
FROM orgs AS o
LEFT JOIN audit_seals AS l
  ON l.org = o.key AND l.position = (SELECT max(m.position) FROM audit_seals AS m WHERE m.org = o.key)
WHERE ?1 IS NULL OR o.key = ?1
ORDER BY o.key
