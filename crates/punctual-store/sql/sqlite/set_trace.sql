UPDATE runs SET traceparent = ?2 WHERE key = ?1
