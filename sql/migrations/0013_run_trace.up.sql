-- The trace id of the request that made a run; NULL: nobody made it, and its trace id follows from its key.

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @traced = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'trace_id') = 0,
  'ALTER TABLE job_runs ADD COLUMN trace_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL', 'DO 0');
PREPARE add_traced FROM @traced;
EXECUTE add_traced;
DEALLOCATE PREPARE add_traced;
