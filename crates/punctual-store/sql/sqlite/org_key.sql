SELECT key FROM orgs WHERE id = ?1
