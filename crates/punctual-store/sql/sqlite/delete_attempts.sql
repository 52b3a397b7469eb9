DELETE FROM attempts WHERE run = ?1
