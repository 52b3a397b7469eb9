-- The tick beyond which a schedule has more rows than it keeps.
SELECT scheduled_for FROM runs WHERE schedule = ?1 ORDER BY scheduled_for DESC LIMIT 1 OFFSET ?2
