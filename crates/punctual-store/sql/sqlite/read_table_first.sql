SELECT {columns} FROM {table} ORDER BY {key} LIMIT {limit}
