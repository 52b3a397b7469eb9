-- Whoever holds the file's lock knows that no other node lives.
UPDATE nodes SET left_at = ?1 WHERE left_at IS NULL
