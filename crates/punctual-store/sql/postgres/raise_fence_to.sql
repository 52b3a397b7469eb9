UPDATE installation SET fence = greatest(fence, coalesce((SELECT max(r.fence) FROM runs r), 0)) WHERE one = 1
