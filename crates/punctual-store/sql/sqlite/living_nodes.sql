SELECT fence FROM nodes WHERE left_at IS NULL AND lease_until > ?1 ORDER BY fence
