-- The failures after which a job is retried. No row has any while a member of an earlier version lives: until then the
-- API refuses jobs that use them.
-- compatible_from: 20

-- retry_conditions: those of retry_on, a semicolon, those of no_retry_on; '' = every failure.
SET @jobs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'retry_conditions') = 0,
  'ALTER TABLE jobs ADD retry_conditions VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''''',
  'DO 0');
PREPARE change_jobs FROM @jobs;
EXECUTE change_jobs;
DEALLOCATE PREPARE change_jobs;
