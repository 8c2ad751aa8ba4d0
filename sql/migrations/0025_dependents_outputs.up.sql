-- Jobs that start after runs of other jobs, and the outputs of runs. The API refuses such schedules while a member of
-- an earlier version lives. Outputs may be written then; such a member does not read them, and does not clear those of
-- an earlier attempt. The kinds EVENT and WORKFLOW are not used yet.
-- compatible_from: 20

-- Orders the edits that make a job wait for another one.
INSERT IGNORE INTO id_blocks (name, next_id) VALUES ('dependency', 1);

-- since_id: ends whose row in run_completions has an id up to it are older, and start nothing.
CREATE TABLE IF NOT EXISTS job_dependencies (
  kind ENUM('after', 'node', 'event') CHARACTER SET ascii NOT NULL,
  upstream_job_no BIGINT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  outcome VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  since_id BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (kind, upstream_job_no, job_no, schedule_id),
  KEY by_job (job_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- outputs: JSON, in which a byte may need six; a BLOB would be too small for 16 KiB.
-- started_by: the run whose end started this one, its state then, and the id of its job.
SET @runs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'outputs') = 0,
  'ALTER TABLE job_runs MODIFY kind ENUM(''CRON'', ''RATE'', ''ONCE'', ''MANUAL'', ''DELAY'', ''BACKFILL'', ''AFTER'', ''EVENT'', ''WORKFLOW'') CHARACTER SET ascii NOT NULL, ADD outputs MEDIUMBLOB NULL, ADD started_by VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL',
  'DO 0');
PREPARE change_runs FROM @runs;
EXECUTE change_runs;
DEALLOCATE PREPARE change_runs;

-- flags: 1 = other jobs wait for the ends of its runs, or once did. run_flags: those that its runs get for that.
SET @jobs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'flags') = 0,
  'ALTER TABLE jobs ADD flags INT UNSIGNED NOT NULL DEFAULT 0',
  'DO 0');
PREPARE change_jobs FROM @jobs;
EXECUTE change_jobs;
DEALLOCATE PREPARE change_jobs;

SET @schedules = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_schedules' AND column_name = 'run_flags') = 0,
  'ALTER TABLE job_schedules ADD run_flags INT UNSIGNED NOT NULL DEFAULT 0',
  'DO 0');
PREPARE change_schedules FROM @schedules;
EXECUTE change_schedules;
DEALLOCATE PREPARE change_schedules;
