-- The first schema. sql/README.md explains the tables; times that the firing path touches are
-- BIGINT microseconds since 1970 UTC, 9223372036854775807 = never.
--
-- A statement ends with a semicolon at the end of a line. Every statement may be run again, so that
-- a migration that was cut short is simply started over.

CREATE TABLE IF NOT EXISTS store_identity (
  id TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  store_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  segment_count INT UNSIGNED NOT NULL,
  settings_version BIGINT NOT NULL DEFAULT 0,
  created_us BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS id_blocks (
  name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  next_id BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS segments (
  segment INT UNSIGNED NOT NULL PRIMARY KEY,
  owner VARCHAR(255) NOT NULL DEFAULT '',
  incarnation VARCHAR(64) NOT NULL DEFAULT '',
  epoch BIGINT UNSIGNED NOT NULL DEFAULT 0,
  assign_gen BIGINT UNSIGNED NOT NULL DEFAULT 0,
  connections VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS executors (
  executor_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  incarnation VARCHAR(64) NOT NULL DEFAULT '',
  host VARCHAR(255) NOT NULL DEFAULT '',
  port INT NOT NULL DEFAULT 0,
  status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'ONLINE',
  enabled TINYINT(1) NOT NULL DEFAULT 1,
  draining TINYINT(1) NOT NULL DEFAULT 0,
  labels TEXT NOT NULL,
  slots INT NOT NULL DEFAULT 0,
  running INT NOT NULL DEFAULT 0,
  load_cpu DOUBLE NOT NULL DEFAULT 0,
  load_memory DOUBLE NOT NULL DEFAULT 0,
  load_disk DOUBLE NOT NULL DEFAULT 0,
  load_io DOUBLE NOT NULL DEFAULT 0,
  last_heartbeat_time DATETIME(6) NOT NULL,
  register_time DATETIME(6) NOT NULL,
  version VARCHAR(64) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS executor_incarnations (
  incarnation_no INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  executor_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  incarnation VARCHAR(64) NOT NULL,
  UNIQUE KEY by_incarnation (executor_id, incarnation)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS jobs (
  job_no BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  job_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  segment INT UNSIGNED NOT NULL,
  version BIGINT NOT NULL,
  manual_schedule_id BIGINT UNSIGNED NOT NULL,
  enabled TINYINT(1) NOT NULL,
  deleted TINYINT(1) NOT NULL DEFAULT 0,
  pause_reason TEXT NOT NULL,
  user_id VARCHAR(64) NOT NULL DEFAULT '',
  name VARCHAR(200) NOT NULL,
  type VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  command MEDIUMTEXT NOT NULL,
  priority INT NOT NULL,
  cron_expression TEXT NULL,
  timeout BIGINT NOT NULL,
  retry_count BIGINT NOT NULL,
  retry_interval BIGINT NOT NULL,
  retry_backoff VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  retry_intervals TEXT NOT NULL,
  on_lost VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  overlap_policy VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  create_time DATETIME(6) NOT NULL,
  update_time DATETIME(6) NOT NULL,
  UNIQUE KEY by_job_id (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS job_versions (
  job_no BIGINT UNSIGNED NOT NULL,
  version BIGINT NOT NULL,
  name VARCHAR(200) NOT NULL,
  definition MEDIUMTEXT NOT NULL,
  actor VARCHAR(255) NOT NULL DEFAULT '',
  created_us BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (job_no, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS job_schedules (
  schedule_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  position INT UNSIGNED NOT NULL,
  version BIGINT NOT NULL,
  job_version BIGINT NOT NULL,
  next_fire_us BIGINT NOT NULL,
  resume_from_us BIGINT NOT NULL DEFAULT 0,
  kind VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  cron_expression TEXT NOT NULL,
  time_zone VARCHAR(255) NOT NULL DEFAULT '',
  every_us BIGINT NOT NULL DEFAULT 0,
  start_us BIGINT NOT NULL DEFAULT 0,
  at_us BIGINT NOT NULL DEFAULT 0,
  dst_gap VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  dst_repeat VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  misfire_policy VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  misfire_grace_us BIGINT NOT NULL,
  catch_up_window_us BIGINT NOT NULL,
  catch_up_max BIGINT NOT NULL,
  priority INT NOT NULL,
  KEY due (segment, next_fire_us),
  KEY by_job (job_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Partitions are added and dropped by day while Carillon runs; p_past is the catch-all below the
-- oldest day. No foreign keys: partitioned tables have none.
CREATE TABLE IF NOT EXISTS job_runs (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
  kind ENUM('CRON', 'RATE', 'ONCE', 'MANUAL') CHARACTER SET ascii NOT NULL,
  state ENUM('PENDING', 'RUNNING', 'HELD', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST', 'SKIPPED') CHARACTER SET ascii NOT NULL,
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
  slot_taken TINYINT(1) NOT NULL DEFAULT 0,
  output_truncated TINYINT(1) NOT NULL DEFAULT 0,
  exit_code INT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  pinned_executor VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  parameters MEDIUMTEXT NULL,
  error BLOB NULL,
  output MEDIUMBLOB NULL,
  PRIMARY KEY (fire_us, schedule_id, shard),
  KEY open_runs (open_segment, due_us, fire_us, schedule_id, shard),
  KEY by_job (job_no, fire_us, schedule_id, shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE (fire_us) (
  PARTITION p_past VALUES LESS THAN (0),
  PARTITION p_future VALUES LESS THAN MAXVALUE
);

CREATE TABLE IF NOT EXISTS run_attempts (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  attempt INT UNSIGNED NOT NULL,
  state ENUM('PENDING', 'RUNNING', 'HELD', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST', 'SKIPPED') CHARACTER SET ascii NOT NULL,
  executor_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  claimed_us BIGINT NOT NULL DEFAULT 0,
  started_us BIGINT NOT NULL DEFAULT 0,
  ended_us BIGINT NOT NULL DEFAULT 0,
  output_truncated TINYINT(1) NOT NULL DEFAULT 0,
  exit_code INT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  error BLOB NULL,
  output MEDIUMBLOB NULL,
  PRIMARY KEY (fire_us, schedule_id, shard, attempt)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE (fire_us) (
  PARTITION p_past VALUES LESS THAN (0),
  PARTITION p_future VALUES LESS THAN MAXVALUE
);

CREATE TABLE IF NOT EXISTS run_gaps (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  schedule_id BIGINT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  from_us BIGINT NOT NULL,
  to_us BIGINT NOT NULL,
  fires BIGINT NOT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  KEY by_job (job_no, id),
  KEY by_end (to_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS run_slots (
  job_no BIGINT UNSIGNED NOT NULL,
  slot_no INT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  PRIMARY KEY (job_no, slot_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS run_cancels (
  segment INT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  PRIMARY KEY (segment, fire_us, schedule_id, shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS dead_letters (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  attempts INT UNSIGNED NOT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  created_us BIGINT NOT NULL,
  KEY by_time (created_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS request_keys (
  scope VARBINARY(512) NOT NULL,
  request_key VARBINARY(255) NOT NULL,
  fingerprint VARBINARY(128) NOT NULL,
  begun_us BIGINT NOT NULL,
  finished TINYINT(1) NOT NULL DEFAULT 0,
  status INT NOT NULL DEFAULT 0,
  body MEDIUMBLOB NULL,
  location VARBINARY(2048) NOT NULL DEFAULT '',
  etag VARBINARY(255) NOT NULL DEFAULT '',
  PRIMARY KEY (scope, request_key),
  KEY by_time (begun_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS tokens (
  token_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name VARCHAR(255) NOT NULL,
  role VARCHAR(32) NOT NULL,
  created_us BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS system_config (
  name VARCHAR(128) NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- job_logs.id is the run id: 56 + 52 + 20 bits in Crockford's base32 (common/domain/run_id.h).
CREATE OR REPLACE SQL SECURITY INVOKER VIEW job_logs AS
SELECT
  REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    CONCAT(
      LPAD(CONV(r.fire_us >> 53, 10, 32), 1, '0'),
      LPAD(CONV((r.fire_us >> 3) & 1125899906842623, 10, 32), 10, '0'),
      CONV(((r.fire_us & 7) << 2) | (r.schedule_id >> 50), 10, 32),
      LPAD(CONV(r.schedule_id & 1125899906842623, 10, 32), 10, '0'),
      LPAD(CONV(r.shard, 10, 32), 4, '0')),
    'V', 'Z'), 'U', 'Y'), 'T', 'X'), 'S', 'W'), 'R', 'V'), 'Q', 'T'), 'P', 'S'), 'O', 'R'), 'N', 'Q'), 'M', 'P'), 'L', 'N'), 'K', 'M'), 'J', 'K'), 'I', 'J') AS id,
  j.job_id AS job_id,
  COALESCE(i.executor_id, '') AS executor_id,
  r.state AS status,
  IF(r.started_us = 0, NULL, TIMESTAMPADD(MICROSECOND, r.started_us, '1970-01-01 00:00:00')) AS start_time,
  IF(r.ended_us = 0, NULL, TIMESTAMPADD(MICROSECOND, r.ended_us, '1970-01-01 00:00:00')) AS end_time,
  CONVERT(r.output USING utf8mb4) AS output,
  CONVERT(r.error USING utf8mb4) AS error,
  r.attempt AS attempt,
  r.exit_code AS exit_code,
  r.reason AS reason,
  r.fire_us AS fire_us
FROM job_runs r
JOIN jobs j ON j.job_no = r.job_no
LEFT JOIN executor_incarnations i ON i.incarnation_no = r.incarnation_no;
