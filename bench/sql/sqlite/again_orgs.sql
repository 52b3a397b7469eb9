INSERT OR IGNORE INTO main.orgs SELECT * FROM made.orgs
