-- The schedules of all orgs by name, after the last one of the page before.
SELECT * FROM schedule_rows
WHERE ?1 IS NULL AND name >= ?2 AND (name > ?2 OR key > ?3)
  AND (?4 IS NULL OR instr(lower(name), lower(?4)) OR instr(lower(coalesce(description, '')), lower(?4))
       OR instr(lower(spec), lower(?4)))
  AND (?5 IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?5))
  AND (?6 IS NULL OR status = ?6)
  AND (?7 IS NULL OR user_id = ?7)
  AND (?8 IS NULL OR declared_set = ?8)
  AND (?9 OR deleted_at IS NULL)
ORDER BY name, key
LIMIT ?10
