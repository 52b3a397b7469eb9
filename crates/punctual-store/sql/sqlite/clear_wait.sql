UPDATE runs SET wait_kind = NULL, wait_for = NULL, wait_since = NULL, wait_until = NULL WHERE key = ?1
