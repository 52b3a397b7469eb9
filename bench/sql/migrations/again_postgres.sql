-- The tables that a schedule has rows in, empty, with their keys and indexes.
CREATE SCHEMA again;
CREATE TABLE again.schedules (LIKE schedules INCLUDING ALL);
CREATE TABLE again.schedule_versions (LIKE schedule_versions INCLUDING ALL);
CREATE TABLE again.schedule_state (LIKE schedule_state INCLUDING ALL);
CREATE TABLE again.runs (LIKE runs INCLUDING ALL);
CREATE TABLE again.audit_events (LIKE audit_events INCLUDING ALL);
