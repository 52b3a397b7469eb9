UPDATE runs SET fence = ?2 WHERE key = ?1
