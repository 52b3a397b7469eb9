DELETE FROM requests WHERE at < ?1
