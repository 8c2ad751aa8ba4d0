-- The queues of runs that wait for a slot of their job, and the limits of a job. An older program treats an
-- overlap_policy that it does not know as skip.
-- compatible_from: 20

-- One row per queued run. queued_us: when it was queued; expires_us: when queue_timeout skips it
-- (9223372036854775807 = never).
CREATE TABLE IF NOT EXISTS run_waits (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  queued_us BIGINT NOT NULL,
  expires_us BIGINT NOT NULL,
  PRIMARY KEY (fire_us, schedule_id, shard),
  KEY by_job (segment, job_no, fire_us, schedule_id, shard),
  KEY by_expiry (segment, expires_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @limits = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'max_running') = 0,
  'ALTER TABLE jobs ADD max_running INT NOT NULL DEFAULT 1, ADD queue_max INT NOT NULL DEFAULT 100', 'DO 0');
PREPARE add_limits FROM @limits;
EXECUTE add_limits;
DEALLOCATE PREPARE add_limits;

SET @policy = IF(
  (SELECT character_maximum_length FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'overlap_policy') < 32,
  'ALTER TABLE jobs MODIFY overlap_policy VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL', 'DO 0');
PREPARE widen_policy FROM @policy;
EXECUTE widen_policy;
DEALLOCATE PREPARE widen_policy;
