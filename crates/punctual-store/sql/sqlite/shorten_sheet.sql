-- Some of its starts have become rows.
UPDATE sheets
SET starts = ?2
WHERE key = ?1
