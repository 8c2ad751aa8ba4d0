-- The attempt that is to be killed at once; any other one of the run that is to be cancelled gets its grace. A
-- column of its own: members from before it go on reading cancel_requested = 1, and can neither take a kill back
-- nor leave one for the next attempt.

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @kills = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'kill_attempt') = 0,
  'ALTER TABLE job_runs ADD COLUMN kill_attempt INT UNSIGNED NOT NULL DEFAULT 0', 'DO 0');
PREPARE add_kills FROM @kills;
EXECUTE add_kills;
DEALLOCATE PREPARE add_kills;

SET @bulk_kills = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'bulk_actions' AND column_name = 'kills') = 0,
  'ALTER TABLE bulk_actions ADD COLUMN kills TINYINT(1) NOT NULL DEFAULT 0', 'DO 0');
PREPARE add_bulk_kills FROM @bulk_kills;
EXECUTE add_bulk_kills;
DEALLOCATE PREPARE add_bulk_kills;
