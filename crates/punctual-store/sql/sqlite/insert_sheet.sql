-- Many plain starts in one row.
INSERT INTO sheets (fence, at, starts)
VALUES (?1, ?2, ?3)
