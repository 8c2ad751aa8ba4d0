-- The window and the jitter of cron and rate schedules. No fire lies at or after until_us; the default is never. A run is
-- due less than jitter_us after its fire. The start of a window is start_us, as it is for rates already. A member from
-- before it cannot read the definition of a job that uses one of them.
-- compatible_from: 20

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @windows = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_schedules' AND column_name = 'until_us') = 0,
  'ALTER TABLE job_schedules ADD until_us BIGINT NOT NULL DEFAULT 9223372036854775807, ADD jitter_us BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE add_windows FROM @windows;
EXECUTE add_windows;
DEALLOCATE PREPARE add_windows;
