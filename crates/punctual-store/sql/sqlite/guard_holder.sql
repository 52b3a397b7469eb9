SELECT run FROM guards WHERE org = ?1 AND key = ?2
