INSERT INTO tokens (org, id, hash, user_id, scopes, created_at, expires_at, revoked_at)
VALUES ($1::bigint, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, $8::bigint)
ON CONFLICT (org, id) DO UPDATE
SET hash = excluded.hash, user_id = excluded.user_id, scopes = excluded.scopes, expires_at = excluded.expires_at,
    revoked_at = excluded.revoked_at
