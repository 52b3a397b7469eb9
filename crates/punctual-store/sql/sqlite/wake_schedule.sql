-- What waits is judged anew: the rules that made it wait have changed.
UPDATE runs SET look_at = ?2 WHERE schedule = ?1 AND status = 'waiting' AND look_at > ?2
