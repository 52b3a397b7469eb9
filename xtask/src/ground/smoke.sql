-- What the private server must be: new enough, durable, and deaf to other machines.
SELECT name || '=' || setting
FROM pg_settings
WHERE name IN ('server_version_num', 'fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses')
ORDER BY name;
