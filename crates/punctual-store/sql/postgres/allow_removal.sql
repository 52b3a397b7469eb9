INSERT INTO retention_pass (one, through) VALUES (1, $1::bigint)
ON CONFLICT (one) DO UPDATE SET through = greatest(retention_pass.through, excluded.through)
