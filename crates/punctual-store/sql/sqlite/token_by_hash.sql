SELECT id, hash, user_id, scopes, created_at, expires_at, revoked_at, org FROM tokens WHERE hash = ?1
