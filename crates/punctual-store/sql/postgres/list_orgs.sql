SELECT key FROM orgs ORDER BY key
