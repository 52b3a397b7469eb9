SELECT question, answer FROM requests WHERE org = ?1 AND key = ?2
