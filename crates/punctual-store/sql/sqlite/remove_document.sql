DELETE FROM {table} WHERE org = ?1 AND name = ?2
