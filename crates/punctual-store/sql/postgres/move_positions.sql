SELECT setval('outbox_position', greatest((SELECT max(position) FROM outbox), (SELECT last_value FROM outbox_position)))
