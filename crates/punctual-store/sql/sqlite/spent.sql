-- A schedule of which nothing can come any more: it has no tick left, or had all its runs, and no row of it is open.
-- One that follows another has no ticks of its own to run out of.
SELECT st.spent_at
FROM schedule_state AS st
WHERE st.schedule = ?1 AND st.status = 'active' AND st.left_at IS NULL
  AND (st.spent_at IS NOT NULL
       OR (st.next_tick IS NULL AND st.plan_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM schedule_uses AS u WHERE u.schedule = st.schedule AND u.kind = 'chain')))
  AND NOT EXISTS (
      SELECT 1 FROM runs AS r
      WHERE r.schedule = st.schedule
        AND (r.status = 'enqueued' OR r.status = 'running' OR r.status = 'waiting' OR r.status = 'retrying'))
  AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.schedule = st.schedule AND r.status = 'scheduled')
