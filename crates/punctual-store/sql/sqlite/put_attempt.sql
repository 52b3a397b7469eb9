INSERT INTO attempts (run, number, org, started_at, ended_at, reason, detail, output, token)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (run, number) DO UPDATE
SET started_at = excluded.started_at, ended_at = excluded.ended_at, reason = excluded.reason,
    detail = excluded.detail, output = excluded.output, token = coalesce(excluded.token, token)
