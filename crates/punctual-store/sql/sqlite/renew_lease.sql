UPDATE nodes SET seen_at = ?2, lease_until = ?2 + lease_us, ahead_us = ?3
WHERE fence = ?1 AND left_at IS NULL AND lease_until > ?2
RETURNING lease_until, tz_version
