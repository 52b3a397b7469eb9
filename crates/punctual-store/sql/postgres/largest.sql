SELECT max({column}) FROM {table}
