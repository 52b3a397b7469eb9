DELETE FROM lanes WHERE run = ?1
