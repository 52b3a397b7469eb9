SELECT name, lower(setting) FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')
ORDER BY name
