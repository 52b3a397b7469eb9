SELECT answer FROM batches WHERE id = ?1
