-- One who makes schedules of an org that may have only so many at a time, in the order of the orgs.
SELECT org FROM limits WHERE org = ANY ($1::bigint[]) AND name = 'org' ORDER BY org FOR UPDATE
