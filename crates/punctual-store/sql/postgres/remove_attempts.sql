DELETE FROM attempts WHERE run = ANY ($1::bigint[])
