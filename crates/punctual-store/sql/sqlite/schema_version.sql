SELECT max(version) FROM migrations
