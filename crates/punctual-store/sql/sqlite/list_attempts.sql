SELECT number, started_at, ended_at, reason, detail, output FROM attempts WHERE run = ?1 ORDER BY number
