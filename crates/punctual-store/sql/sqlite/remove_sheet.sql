DELETE FROM sheets
WHERE key = ?1
