UPDATE installation SET fence = fence + 1 WHERE one = 1 RETURNING fence
