SELECT question, answer FROM requests WHERE org = $1::bigint AND key = $2::text
