SELECT lower(hex(randomblob(16)))
