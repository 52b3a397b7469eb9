INSERT INTO installation (one, fence, tz) VALUES (1, 0, $1::bigint) ON CONFLICT (one) DO NOTHING
