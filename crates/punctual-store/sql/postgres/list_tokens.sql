SELECT org, id, hash, user_id, scopes, created_at, expires_at, revoked_at FROM tokens ORDER BY created_at, id
