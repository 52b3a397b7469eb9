INSERT INTO tokens (org, id, hash, user_id, scopes, created_at, expires_at, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (org, id) DO UPDATE
SET hash = excluded.hash, user_id = excluded.user_id, scopes = excluded.scopes, expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at
