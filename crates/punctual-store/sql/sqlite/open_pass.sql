INSERT INTO retention_pass (one, through) VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET through = excluded.through
