-- Armed rows after an instant vanish.
DELETE FROM runs WHERE schedule = ?1 AND scheduled_for > ?2 AND status = 'scheduled'
