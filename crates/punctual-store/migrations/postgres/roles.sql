-- Roles belong to the whole server: another database of it may be making them at this moment.
DO $$
DECLARE
    wanted TEXT;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['punctual_app', 'punctual_engine'] LOOP
        FOR attempt IN 1..10 LOOP
            BEGIN
                IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted) THEN
                    EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
                END IF;
                IF NOT pg_has_role(current_user, wanted, 'MEMBER') THEN
                    EXECUTE format('GRANT %I TO %I', wanted, current_user);
                END IF;
                EXIT;
            EXCEPTION WHEN duplicate_object OR unique_violation OR internal_error THEN
                PERFORM pg_sleep(0.01 * attempt);
            END;
        END LOOP;
    END LOOP;
END $$;
