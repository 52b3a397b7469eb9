DELETE FROM guards WHERE run = ?1
