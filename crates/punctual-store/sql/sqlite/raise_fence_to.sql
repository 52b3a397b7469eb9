UPDATE installation SET fence = max(fence, ?1)
