SELECT EXISTS (SELECT 1 FROM circuit_breakers)
