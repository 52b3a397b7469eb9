UPDATE runs SET payload = ?2 WHERE key = ?1
