SELECT through FROM retention_pass WHERE one = 1
