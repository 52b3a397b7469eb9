-- A tick that ended has its entry, run or not: no other version has it again.
UPDATE schedule_state SET launched_through = max(coalesce(launched_through, ?2), ?2) WHERE schedule = ?1
