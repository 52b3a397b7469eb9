INSERT INTO run_ranges (schedule, first, last, org, count, status, reason, detail, version, recorded_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
