UPDATE nodes SET left_at = ?2 WHERE fence = ?1 AND left_at IS NULL
