SELECT t.version FROM installation i JOIN tz_versions t ON t.key = i.tz WHERE i.one = 1
