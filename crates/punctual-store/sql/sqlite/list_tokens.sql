SELECT id, hash, user_id, scopes, created_at, expires_at, revoked_at, org
FROM tokens WHERE org IN (SELECT key FROM orgs WHERE ?1 IS NULL OR key = ?1) ORDER BY org, id
