SELECT body FROM limits WHERE org = ?1 AND name = 'org'
