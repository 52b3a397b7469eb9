DELETE FROM org_use WHERE org = ?1
