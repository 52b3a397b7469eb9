DELETE FROM batches WHERE at < $1::bigint
