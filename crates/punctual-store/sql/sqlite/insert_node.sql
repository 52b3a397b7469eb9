INSERT INTO nodes (fence, id, pid, started_at, seen_at, lease_us, lease_until, tz_version, version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
