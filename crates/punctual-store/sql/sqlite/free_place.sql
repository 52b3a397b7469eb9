UPDATE org_use SET in_flight = max(in_flight - 1, 0) WHERE org = ?1
