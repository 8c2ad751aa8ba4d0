-- The resources that attempts used. A member of an earlier version neither reads nor writes them, so during an upgrade a
-- run may keep those of its earlier attempt.
-- compatible_from: 20

-- usage_of: CPU in microseconds, peak memory, bytes read and written, separated by commas; NULL = unknown.
SET @runs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'usage_of') = 0,
  'ALTER TABLE job_runs ADD usage_of VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL',
  'DO 0');
PREPARE change_runs FROM @runs;
EXECUTE change_runs;
DEALLOCATE PREPARE change_runs;

SET @attempts = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'run_attempts' AND column_name = 'usage_of') = 0,
  'ALTER TABLE run_attempts ADD usage_of VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NULL',
  'DO 0');
PREPARE change_attempts FROM @attempts;
EXECUTE change_attempts;
DEALLOCATE PREPARE change_attempts;
