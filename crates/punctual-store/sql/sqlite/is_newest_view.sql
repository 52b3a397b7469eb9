-- Whether what is shown of schedules counts what their states do not.
SELECT sql LIKE '%uncounted%' FROM sqlite_schema WHERE type = 'view' AND name = 'schedule_rows'
