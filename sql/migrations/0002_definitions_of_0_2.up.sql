-- Job definitions gain fields that programs of schema 1 would misread: they are written once the
-- upgrade is finished (scheduler/settings/new_fields.h). Programs of schema 1 neither read nor write
-- the new table.
-- compatible_from: 1

-- Finished runs that outlive their day: the columns of job_runs that describe an ended run.
CREATE TABLE IF NOT EXISTS kept_runs (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  kind ENUM('CRON', 'RATE', 'ONCE', 'MANUAL', 'DELAY', 'BACKFILL', 'AFTER', 'EVENT', 'WORKFLOW')
    CHARACTER SET ascii NOT NULL,
  state ENUM('PENDING', 'RUNNING', 'HELD', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST',
    'SKIPPED') CHARACTER SET ascii NOT NULL,
  attempt INT UNSIGNED NOT NULL DEFAULT 1,
  priority INT NOT NULL DEFAULT 0,
  due_us BIGINT NOT NULL,
  def_version BIGINT NOT NULL,
  planned_us BIGINT NOT NULL DEFAULT 0,
  claimed_us BIGINT NOT NULL DEFAULT 0,
  started_us BIGINT NOT NULL DEFAULT 0,
  ended_us BIGINT NOT NULL DEFAULT 0,
  token_high BIGINT UNSIGNED NOT NULL DEFAULT 0,
  token_low BIGINT UNSIGNED NOT NULL DEFAULT 0,
  incarnation_no INT UNSIGNED NOT NULL DEFAULT 0,
  cancel_requested TINYINT(1) NOT NULL DEFAULT 0,
  kill_attempt INT UNSIGNED NOT NULL DEFAULT 0,
  slot_taken TINYINT(1) NOT NULL DEFAULT 0,
  group_no INT UNSIGNED NOT NULL DEFAULT 0,
  group_slot INT UNSIGNED NOT NULL DEFAULT 0,
  flags INT UNSIGNED NOT NULL DEFAULT 0,
  output_truncated TINYINT(1) NOT NULL DEFAULT 0,
  exit_code INT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  pinned_executor VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  parameters MEDIUMTEXT NULL,
  error BLOB NULL,
  output MEDIUMBLOB NULL,
  trace_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  outputs MEDIUMBLOB NULL,
  started_by VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  detail VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (fire_us, schedule_id, shard),
  KEY by_job (job_no, fire_us, schedule_id, shard),
  KEY by_incarnation (incarnation_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
