INSERT INTO {table} ({columns}) VALUES ({marks})
