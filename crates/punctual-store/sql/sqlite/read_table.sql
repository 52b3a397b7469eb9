SELECT {columns} FROM {table} WHERE ({key}) > ({marks}) ORDER BY {key} LIMIT {limit}
