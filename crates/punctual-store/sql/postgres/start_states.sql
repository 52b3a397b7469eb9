UPDATE schedule_state s
SET active_run = coalesce(d.claim, s.active_run), admitted = s.admitted + d.counted, last_start = $8::bigint,
    anchor_start = CASE WHEN d.anchored = 1 THEN $8::bigint ELSE s.anchor_start END,
    launched_through = greatest(s.launched_through, d.tick),
    plan_at = CASE WHEN d.moves = 1 AND s.left_at IS NULL AND s.spent_at IS NULL THEN $8::bigint ELSE s.plan_at END
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
    AS d (schedule, claim, counted, max, tick, moves, anchored)
WHERE s.schedule = d.schedule AND (d.claim IS NULL OR s.active_run IS NULL)
  AND (d.max IS NULL OR s.admitted + d.counted <= d.max)
RETURNING s.schedule, s.admitted
