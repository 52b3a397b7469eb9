INSERT INTO installation (one, fence, tz_version) VALUES (1, 0, ?1) ON CONFLICT (one) DO NOTHING
