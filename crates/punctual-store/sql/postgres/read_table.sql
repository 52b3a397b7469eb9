SELECT {columns} FROM {table} {beyond} ORDER BY {keys} LIMIT $1::bigint
