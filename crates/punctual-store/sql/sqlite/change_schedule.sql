-- The state after a change: what is not named stays.
UPDATE schedule_state
SET version = ?2,
    status = coalesce(?3, status),
    status_detail = CASE WHEN ?3 IS NULL THEN status_detail ELSE ?4 END,
    left_at = CASE ?5 WHEN 'keep' THEN left_at WHEN 'leave' THEN ?6 ELSE NULL END,
    -- Whoever resumes it has seen to what made it fail.
    consecutive_failures = CASE ?5 WHEN 'return' THEN 0 ELSE consecutive_failures END,
    spent_at = CASE WHEN ?7 THEN NULL ELSE spent_at END,
    planned_through = ?8, decided_through = ?9, next_tick = ?10, plan_at = ?11
WHERE schedule = ?1
