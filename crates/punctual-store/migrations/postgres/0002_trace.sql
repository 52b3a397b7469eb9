-- The trace that a run belongs to, as the W3C writes it: from its admission on, or from its request.
ALTER TABLE runs ADD COLUMN traceparent TEXT;
