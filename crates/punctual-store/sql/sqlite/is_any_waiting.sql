SELECT EXISTS (SELECT 1 FROM runs WHERE status = 'waiting')
