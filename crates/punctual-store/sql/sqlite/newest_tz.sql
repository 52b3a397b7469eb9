SELECT t.version FROM installation AS i JOIN tz_versions AS t ON t.key = i.tz
