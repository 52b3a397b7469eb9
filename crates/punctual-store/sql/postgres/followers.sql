-- Orgs without a chain ask nothing of each schedule; deleted followers have no use left.
SELECT u.name, u.schedule, s.org, s.shard, s.version, s.status, s.status_detail, s.left_at
FROM unnest($1::bigint[], $2::text[]) AS d (org, id)
JOIN schedule_uses u ON u.org = d.org AND u.kind = 'chain' AND u.name = d.id
JOIN schedule_state s ON s.schedule = u.schedule
WHERE EXISTS (SELECT 1 FROM schedule_uses any_of WHERE any_of.org = ANY ($1::bigint[]) AND any_of.kind = 'chain')
