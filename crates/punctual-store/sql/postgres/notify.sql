SELECT pg_notify('punctual', $1::text)
