-- Concurrency groups and their slots, calendars, the ends of runs that something waits for, backfills, and the columns
-- of fixed delays, spread fields and the retention of a job. No row has any of these while a member of an earlier version
-- lives: until then the API refuses jobs that use them.
-- compatible_from: 20

-- slot_limit: running attempts of all jobs of the group; 0 = none starts.
CREATE TABLE IF NOT EXISTS concurrency_groups (
  group_no INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slot_limit INT UNSIGNED NOT NULL,
  updated_us BIGINT NOT NULL,
  UNIQUE KEY by_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT IGNORE INTO id_blocks (name, next_id) VALUES ('group', 1);

-- The slots of a group, numbered from 1; one above the limit is not given away again. fire_us 0: the slot is free.
CREATE TABLE IF NOT EXISTS group_slots (
  group_no INT UNSIGNED NOT NULL,
  slot_no INT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL DEFAULT 0,
  schedule_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  granted_us BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (group_no, slot_no),
  KEY free_slots (group_no, fire_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- One row a version of a calendar; the highest is the present one, and effective from effective_us on. The versions
-- of all calendars are one sequence, so that the greatest tells whether anything changed. deleted: the name is free.
CREATE TABLE IF NOT EXISTS calendars (
  calendar_no INT UNSIGNED NOT NULL,
  version BIGINT NOT NULL,
  name VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  definition MEDIUMTEXT NOT NULL,
  deleted TINYINT(1) NOT NULL DEFAULT 0,
  effective_us BIGINT NOT NULL,
  PRIMARY KEY (calendar_no, version),
  UNIQUE KEY by_version (version),
  KEY by_name (name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Written with the final state of a run that something waits for; deleted by whoever acted on it.
CREATE TABLE IF NOT EXISTS run_completions (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  segment INT UNSIGNED NOT NULL,
  target ENUM('schedule', 'dependents', 'workflow') CHARACTER SET ascii NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  ended_us BIGINT NOT NULL,
  KEY by_segment (segment, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- cursor_us: ascending, the fires from there on are left; descending, those before it. run_keys: JSON, the runs that
-- were open at the last step. open_segment: NULL once no run of it is open.
CREATE TABLE IF NOT EXISTS backfills (
  backfill_no BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  from_us BIGINT NOT NULL,
  to_us BIGINT NOT NULL,
  descending TINYINT(1) NOT NULL,
  rerun VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  concurrency INT UNSIGNED NOT NULL,
  priority INT NULL,
  parameters MEDIUMTEXT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  cursor_us BIGINT NOT NULL,
  run_keys MEDIUMTEXT NOT NULL,
  fires BIGINT NOT NULL,
  created BIGINT NOT NULL DEFAULT 0,
  rerun_count BIGINT NOT NULL DEFAULT 0,
  existing BIGINT NOT NULL DEFAULT 0,
  refused BIGINT NOT NULL DEFAULT 0,
  succeeded BIGINT NOT NULL DEFAULT 0,
  failed BIGINT NOT NULL DEFAULT 0,
  error VARCHAR(255) NOT NULL DEFAULT '',
  actor VARCHAR(255) NOT NULL,
  created_us BIGINT NOT NULL,
  ended_us BIGINT NOT NULL DEFAULT 0,
  KEY open_backfills (open_segment, backfill_no),
  KEY by_job (job_no, backfill_no),
  KEY by_end (ended_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- MySQL has no ADD COLUMN IF NOT EXISTS. A new value at the end of an ENUM changes no stored row.
SET @runs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'flags') = 0,
  'ALTER TABLE job_runs MODIFY kind ENUM(''CRON'', ''RATE'', ''ONCE'', ''MANUAL'', ''DELAY'', ''BACKFILL'') CHARACTER SET ascii NOT NULL, ADD flags INT UNSIGNED NOT NULL DEFAULT 0, ADD group_no INT UNSIGNED NOT NULL DEFAULT 0, ADD group_slot INT UNSIGNED NOT NULL DEFAULT 0',
  'DO 0');
PREPARE change_runs FROM @runs;
EXECUTE change_runs;
DEALLOCATE PREPARE change_runs;

SET @jobs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'group_no') = 0,
  'ALTER TABLE jobs ADD group_no INT UNSIGNED NOT NULL DEFAULT 0, ADD retention_days INT NOT NULL DEFAULT 0, ADD KEY by_group (group_no)',
  'DO 0');
PREPARE change_jobs FROM @jobs;
EXECUTE change_jobs;
DEALLOCATE PREPARE change_jobs;

SET @schedules = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_schedules' AND column_name = 'awaited_us') = 0,
  'ALTER TABLE job_schedules ADD awaited_us BIGINT NOT NULL DEFAULT 0, ADD spread BIGINT UNSIGNED NOT NULL DEFAULT 0, ADD calendar_no INT UNSIGNED NOT NULL DEFAULT 0, ADD blackout_no INT UNSIGNED NOT NULL DEFAULT 0, ADD calendar_version BIGINT NOT NULL DEFAULT 0, ADD KEY by_awaited (segment, awaited_us), ADD KEY by_calendar (calendar_no, calendar_version), ADD KEY by_blackout (blackout_no, calendar_version)',
  'DO 0');
PREPARE change_schedules FROM @schedules;
EXECUTE change_schedules;
DEALLOCATE PREPARE change_schedules;

-- group_no 0: the run waits for a slot of its job, otherwise of that group. rank_no: the lower goes first.
SET @waits = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'run_waits' AND column_name = 'group_no') = 0,
  'ALTER TABLE run_waits ADD group_no INT UNSIGNED NOT NULL DEFAULT 0, ADD rank_no INT NOT NULL DEFAULT 0, ADD KEY by_group (group_no, rank_no, fire_us, schedule_id, shard), ADD KEY by_place (segment, group_no, job_no, fire_us, schedule_id, shard)',
  'DO 0');
PREPARE change_waits FROM @waits;
EXECUTE change_waits;
DEALLOCATE PREPARE change_waits;
