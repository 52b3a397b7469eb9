SELECT org, definition FROM schedule_versions WHERE schedule = ?1 AND version = ?2
