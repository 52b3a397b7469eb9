INSERT INTO run_ranges (org, schedule, first, last, count, status, reason, detail, version, recorded_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?10, ?6, ?7, ?8, ?9)
