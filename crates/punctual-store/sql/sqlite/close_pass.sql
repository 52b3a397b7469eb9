DELETE FROM retention_pass
