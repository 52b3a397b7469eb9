SELECT number, token FROM attempts WHERE run = ?1 AND token IS NOT NULL
