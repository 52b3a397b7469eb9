-- Whether the indexes are in their present order.
SELECT sql LIKE '%shard >> 6%' FROM sqlite_schema WHERE type = 'index' AND name = 'runs_look'
