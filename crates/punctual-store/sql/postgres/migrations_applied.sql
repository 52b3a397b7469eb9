SELECT version, name, checksum FROM migrations ORDER BY version
