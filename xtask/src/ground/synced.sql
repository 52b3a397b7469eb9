-- Standbys that have everything before it is acknowledged.
SELECT count(*)
FROM pg_stat_replication
WHERE sync_state = 'sync'
