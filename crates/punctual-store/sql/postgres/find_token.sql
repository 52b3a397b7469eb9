SELECT org, id, hash, user_id, scopes, created_at, expires_at, revoked_at FROM tokens WHERE hash = $1::text
