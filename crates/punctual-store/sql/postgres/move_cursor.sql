UPDATE schedule_state SET planned_through = $2::bigint, decided_through = $3::bigint WHERE schedule = $1::bigint
