-- How far a schedule is planned and decided.
SELECT planned_through, decided_through FROM schedule_state WHERE schedule = ?1
