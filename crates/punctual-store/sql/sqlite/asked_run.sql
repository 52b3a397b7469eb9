-- The run that an earlier request with the same key brought about.
SELECT key FROM runs WHERE schedule = ?1 AND origin = ?2 AND nonce = ?3 AND nonce <> ''
