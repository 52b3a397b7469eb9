SELECT org, body FROM limits WHERE org = ANY ($1::bigint[]) AND name = 'org'
