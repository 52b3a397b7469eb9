SELECT l.body FROM limits l WHERE l.org = ANY ($1::bigint[]) AND l.name = 'org'
