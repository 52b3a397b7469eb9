-- Ticks that stay in the ledger between two others: rows, and the beginnings of stretches.
SELECT scheduled_for FROM runs
WHERE schedule = ?1 AND scheduled_for >= ?2 AND scheduled_for <= ?3 AND origin = 'tick'
UNION ALL
SELECT first FROM run_ranges WHERE schedule = ?1 AND first >= ?2 AND first <= ?3
ORDER BY 1
