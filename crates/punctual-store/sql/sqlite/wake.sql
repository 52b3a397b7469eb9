-- Rows that wait for something that has just happened are looked at now.
UPDATE runs SET look_at = ?4
WHERE org = ?1 AND wait_kind = ?2 AND wait_for = ?3 AND status = 'waiting' AND look_at > ?4
