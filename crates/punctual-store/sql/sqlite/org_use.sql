SELECT minute, per_minute, in_flight FROM org_use WHERE org = ?1
