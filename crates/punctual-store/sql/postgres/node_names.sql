SELECT fence, id FROM nodes WHERE fence = ANY ($1::bigint[])
