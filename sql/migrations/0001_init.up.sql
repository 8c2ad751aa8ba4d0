-- The whole schema of 0.1.0. sql/README.md explains the tables. Times on the firing path are BIGINT
-- microseconds since 1970 UTC; 9223372036854775807 means "never".
--
-- A statement ends with a semicolon at the end of a line. Every statement may be repeated, so that
-- an interrupted migration starts over. There are no foreign keys, because partitioned tables
-- cannot have any.

-- The store and its members

-- mark: the leader increases it every few seconds. A store with a lower one than was seen before
-- has lost commits (docs/adr/0009-store-identity-guard.md).
CREATE TABLE IF NOT EXISTS store_identity (
  id TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  store_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  segment_count INT UNSIGNED NOT NULL,
  settings_version BIGINT NOT NULL DEFAULT 0,
  created_us BIGINT NOT NULL DEFAULT 0,
  mark BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS system_config (
  name VARCHAR(128) NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS id_blocks (
  name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  next_id BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

INSERT IGNORE INTO id_blocks (name, next_id)
  VALUES ('dependency', 1), ('group', 1), ('workflow_run', 1);

-- lease_us, lease_before_us: the longest leases that the owner grants, and those of earlier
-- owners that may still be in force. A run is given up only after every lease of it has ended.
CREATE TABLE IF NOT EXISTS segments (
  segment INT UNSIGNED NOT NULL PRIMARY KEY,
  owner VARCHAR(255) NOT NULL DEFAULT '',
  incarnation VARCHAR(64) NOT NULL DEFAULT '',
  epoch BIGINT UNSIGNED NOT NULL DEFAULT 0,
  assign_gen BIGINT UNSIGNED NOT NULL DEFAULT 0,
  connections VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  lease_us BIGINT NOT NULL DEFAULT 0,
  lease_before_us BIGINT NOT NULL DEFAULT 0,
  taken_us BIGINT NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Executors

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

-- seen_us: when the incarnation was last the current one of its executor.
CREATE TABLE IF NOT EXISTS incarnation_uses (
  incarnation_no INT UNSIGNED NOT NULL PRIMARY KEY,
  seen_us BIGINT NOT NULL,
  KEY by_time (seen_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Jobs and their schedules

-- flags: 1 = other jobs wait for the ends of its runs, or once did. retry_conditions: those of
-- retry_on, a semicolon, those of no_retry_on; '' = every failure.
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
  overlap_policy VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  create_time DATETIME(6) NOT NULL,
  update_time DATETIME(6) NOT NULL,
  namespace VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'default',
  max_running INT NOT NULL DEFAULT 1,
  queue_max INT NOT NULL DEFAULT 100,
  group_no INT UNSIGNED NOT NULL DEFAULT 0,
  retention_days INT NOT NULL DEFAULT 0,
  flags INT UNSIGNED NOT NULL DEFAULT 0,
  retry_conditions VARCHAR(1000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  UNIQUE KEY by_job_id (job_id),
  KEY by_name (name, job_id),
  KEY by_namespace (namespace, deleted, job_id),
  KEY by_full_name (namespace, name, job_id),
  KEY by_create_time (deleted, create_time, job_id),
  KEY by_update_time (deleted, update_time, job_id),
  KEY by_id_and_name (job_id, name),
  KEY by_group (group_no)
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

-- until_us: no fire lies at or after it. jitter_us: a run is due less than this after its fire.
-- run_flags: the flags that its runs get.
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
  until_us BIGINT NOT NULL DEFAULT 9223372036854775807,
  jitter_us BIGINT NOT NULL DEFAULT 0,
  awaited_us BIGINT NOT NULL DEFAULT 0,
  spread BIGINT UNSIGNED NOT NULL DEFAULT 0,
  calendar_no INT UNSIGNED NOT NULL DEFAULT 0,
  blackout_no INT UNSIGNED NOT NULL DEFAULT 0,
  calendar_version BIGINT NOT NULL DEFAULT 0,
  run_flags INT UNSIGNED NOT NULL DEFAULT 0,
  KEY due (segment, next_fire_us),
  KEY by_job (job_no),
  KEY by_awaited (segment, awaited_us),
  KEY by_calendar (calendar_no, calendar_version),
  KEY by_blackout (blackout_no, calendar_version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

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

-- One row per version of a calendar; the highest is in force from effective_us on. The versions
-- of all calendars are one sequence, so the greatest shows any change. deleted: the name is free.
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

-- slot_limit: running attempts of all jobs of the group; 0 = none starts.
CREATE TABLE IF NOT EXISTS concurrency_groups (
  group_no INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  slot_limit INT UNSIGNED NOT NULL,
  updated_us BIGINT NOT NULL,
  UNIQUE KEY by_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Runs

-- Partitions are added and dropped by day while Carillon runs; p_past has everything before the
-- oldest day. ended_as: the number of the final state unless that is COMPLETED, else NULL.
-- kill_attempt: the attempt that is killed without a grace period. outputs: JSON, in which a byte
-- may take six; a BLOB would be too small for 16 KiB. started_by: the run whose end started this
-- one, its state then, and the id of its job. detail: "usage=1500000,25165824,0,4096;http=503"
-- (common/domain/run/result_detail.h). kind: EVENT is reserved.
CREATE TABLE IF NOT EXISTS job_runs (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
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
  slot_taken TINYINT(1) NOT NULL DEFAULT 0,
  output_truncated TINYINT(1) NOT NULL DEFAULT 0,
  exit_code INT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  pinned_executor VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  parameters MEDIUMTEXT NULL,
  error BLOB NULL,
  output MEDIUMBLOB NULL,
  ended_as TINYINT UNSIGNED NULL,
  trace_id CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  kill_attempt INT UNSIGNED NOT NULL DEFAULT 0,
  flags INT UNSIGNED NOT NULL DEFAULT 0,
  group_no INT UNSIGNED NOT NULL DEFAULT 0,
  group_slot INT UNSIGNED NOT NULL DEFAULT 0,
  outputs MEDIUMBLOB NULL,
  started_by VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  detail VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (fire_us, schedule_id, shard),
  KEY open_runs (open_segment, due_us, fire_us, schedule_id, shard),
  KEY by_job (job_no, fire_us, schedule_id, shard),
  KEY by_end (ended_as, fire_us, schedule_id, shard, job_no)
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
  state ENUM('PENDING', 'RUNNING', 'HELD', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'LOST',
    'SKIPPED') CHARACTER SET ascii NOT NULL,
  executor_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  claimed_us BIGINT NOT NULL DEFAULT 0,
  started_us BIGINT NOT NULL DEFAULT 0,
  ended_us BIGINT NOT NULL DEFAULT 0,
  output_truncated TINYINT(1) NOT NULL DEFAULT 0,
  exit_code INT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  error BLOB NULL,
  output MEDIUMBLOB NULL,
  detail VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NULL,
  PRIMARY KEY (fire_us, schedule_id, shard, attempt)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE (fire_us) (
  PARTITION p_past VALUES LESS THAN (0),
  PARTITION p_future VALUES LESS THAN MAXVALUE
);

CREATE TABLE IF NOT EXISTS run_log_chunks (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  attempt INT UNSIGNED NOT NULL,
  first_seq BIGINT UNSIGNED NOT NULL,
  entry_count INT UNSIGNED NOT NULL,
  is_last TINYINT(1) NOT NULL DEFAULT 0,
  entries MEDIUMBLOB NOT NULL,
  PRIMARY KEY (fire_us, schedule_id, shard, attempt, first_seq)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE (fire_us) (
  PARTITION p_past VALUES LESS THAN (0),
  PARTITION p_future VALUES LESS THAN MAXVALUE
);

-- attempt, seq: of the last save. progress_at_us, saved_at_us: NULL = no progress, no checkpoint.
-- checkpoint_attempt: the attempt that saved the checkpoint.
CREATE TABLE IF NOT EXISTS run_checkpoints (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  attempt INT UNSIGNED NOT NULL,
  seq BIGINT UNSIGNED NOT NULL,
  percent TINYINT UNSIGNED NULL,
  progress_text TEXT NULL,
  progress_at_us BIGINT NULL,
  checkpoint MEDIUMBLOB NULL,
  checkpoint_attempt INT UNSIGNED NULL,
  saved_at_us BIGINT NULL,
  PRIMARY KEY (fire_us, schedule_id, shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
PARTITION BY RANGE (fire_us) (
  PARTITION p_past VALUES LESS THAN (0),
  PARTITION p_future VALUES LESS THAN MAXVALUE
);

CREATE TABLE IF NOT EXISTS run_slots (
  job_no BIGINT UNSIGNED NOT NULL,
  slot_no INT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  PRIMARY KEY (job_no, slot_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Numbered from 1; a slot above the limit is not given away again. fire_us 0: the slot is free.
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

-- group_no 0: the run waits for a slot of its job, otherwise of that group; the lowest rank_no
-- goes first. expires_us: when queue_timeout skips it.
CREATE TABLE IF NOT EXISTS run_waits (
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  queued_us BIGINT NOT NULL,
  expires_us BIGINT NOT NULL,
  group_no INT UNSIGNED NOT NULL DEFAULT 0,
  rank_no INT NOT NULL DEFAULT 0,
  PRIMARY KEY (fire_us, schedule_id, shard),
  KEY by_job (segment, job_no, fire_us, schedule_id, shard),
  KEY by_expiry (segment, expires_us),
  KEY by_group (group_no, rank_no, fire_us, schedule_id, shard),
  KEY by_place (segment, group_no, job_no, fire_us, schedule_id, shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Written with the final state of a run that something waits for; deleted once that was acted
-- upon.
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

CREATE TABLE IF NOT EXISTS run_cancels (
  segment INT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  PRIMARY KEY (segment, fire_us, schedule_id, shard)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

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
  KEY by_time (created_us),
  KEY by_job (job_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- (fire_us, schedule_id, shard): the workflow's own run. open_segment: NULL once it has ended.
-- timed_out: the deadline passed while nodes were open. parameters: those of the run, of its
-- schedule and the defaults, as JSON. replaced_by: the number of the workflow run that came after
-- this one; 0 = it is the present one, so a run has at most one that is present.
CREATE TABLE IF NOT EXISTS workflow_runs (
  no BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
  def_version BIGINT NOT NULL,
  deadline_us BIGINT NOT NULL,
  timed_out TINYINT(1) NOT NULL DEFAULT 0,
  parameters MEDIUMTEXT NOT NULL,
  replaced_by BIGINT UNSIGNED NOT NULL DEFAULT 0,
  UNIQUE KEY by_run (fire_us, schedule_id, shard, replaced_by),
  KEY by_open (open_segment, no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- cursor_us: ascending, the fires from there on are left; descending, those before it. run_keys:
-- JSON, the runs that were open at the last step. open_segment: NULL once no run of it is open.
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

-- Notices

-- Written by the transaction that makes it true. open_segment: its segment until the owner has
-- decided about it, then NULL. Not partitioned: a notice is found by its run, and there are few.
CREATE TABLE IF NOT EXISTS notices (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
  kind ENUM('failed', 'missed', 'late', 'recovered') CHARACTER SET ascii NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  attempt INT UNSIGNED NOT NULL DEFAULT 1,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  fires BIGINT NOT NULL DEFAULT 1,
  until_us BIGINT NOT NULL DEFAULT 0,
  created_us BIGINT NOT NULL,
  UNIQUE KEY by_run (fire_us, schedule_id, shard, attempt, kind),
  KEY open_notices (open_segment, id),
  KEY by_time (created_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- message: the finished text, the same in each attempt.
CREATE TABLE IF NOT EXISTS deliveries (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  notice_id BIGINT UNSIGNED NOT NULL,
  channel ENUM('webhook', 'mail') CHARACTER SET ascii NOT NULL,
  segment INT UNSIGNED NOT NULL,
  open_segment INT UNSIGNED NULL,
  kind ENUM('failed', 'missed', 'late', 'recovered') CHARACTER SET ascii NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  fire_us BIGINT NOT NULL,
  schedule_id BIGINT UNSIGNED NOT NULL,
  shard INT UNSIGNED NOT NULL DEFAULT 0,
  state ENUM('PENDING', 'DELIVERED', 'GIVEN_UP') CHARACTER SET ascii NOT NULL,
  attempts INT UNSIGNED NOT NULL DEFAULT 0,
  created_us BIGINT NOT NULL,
  asked_us BIGINT NOT NULL,
  due_us BIGINT NOT NULL,
  ended_us BIGINT NOT NULL DEFAULT 0,
  status INT NOT NULL DEFAULT 0,
  error TEXT NOT NULL,
  recipients TEXT NOT NULL,
  message MEDIUMTEXT NOT NULL,
  UNIQUE KEY by_notice (notice_id, channel),
  KEY open_deliveries (open_segment, due_us, id),
  KEY by_job (job_no, id),
  KEY by_time (created_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- watched_segment: a failure was reported and no success since; failed_fire_us and failed_us are
-- the point from which a success counts.
CREATE TABLE IF NOT EXISTS notice_memories (
  job_no BIGINT UNSIGNED NOT NULL,
  kind ENUM('failed', 'missed', 'late', 'recovered') CHARACTER SET ascii NOT NULL,
  segment INT UNSIGNED NOT NULL,
  watched_segment INT UNSIGNED NULL,
  told_us BIGINT NOT NULL,
  held_back BIGINT NOT NULL DEFAULT 0,
  failed_fire_us BIGINT NOT NULL DEFAULT 0,
  failed_us BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (job_no, kind),
  KEY watched (watched_segment, job_no),
  KEY by_time (told_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Users, access and the API

-- shares: JSON, which jobs of others the user may act on (docs/security.md); NULL = none.
-- preferences: name=value between blanks; NULL = none.
CREATE TABLE IF NOT EXISTS users (
  user_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
  display_name VARCHAR(200) NOT NULL DEFAULT '',
  role VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  password_hash VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  disabled TINYINT(1) NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 1,
  session_epoch BIGINT NOT NULL DEFAULT 1,
  created_us BIGINT NOT NULL,
  updated_us BIGINT NOT NULL,
  shares MEDIUMTEXT NULL,
  preferences VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  UNIQUE KEY by_name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS refresh_tokens (
  token_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  family VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  session_epoch BIGINT NOT NULL,
  created_us BIGINT NOT NULL,
  expires_us BIGINT NOT NULL,
  used TINYINT(1) NOT NULL DEFAULT 0,
  KEY by_family (family),
  KEY by_user (user_id),
  KEY by_expiry (expires_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS signing_keys (
  id INT NOT NULL PRIMARY KEY,
  secret VARBINARY(128) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

CREATE TABLE IF NOT EXISTS setup_links (
  id INT NOT NULL PRIMARY KEY,
  token_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expires_us BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- scopes: names of permissions between blanks; '' = all permissions of the role.
CREATE TABLE IF NOT EXISTS tokens (
  token_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  name VARCHAR(255) NOT NULL,
  role VARCHAR(32) NOT NULL,
  created_us BIGINT NOT NULL,
  token_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NULL,
  prefix VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  user_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  expires_us BIGINT NOT NULL DEFAULT 0,
  last_used_us BIGINT NOT NULL DEFAULT 0,
  scopes VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  UNIQUE KEY by_id (token_id),
  KEY by_user (user_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- ciphertext: sealed (XChaCha20-Poly1305) with a key that is not in the store.
CREATE TABLE IF NOT EXISTS secrets (
  name VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  description VARCHAR(1000) NOT NULL DEFAULT '',
  user_id VARCHAR(64) NOT NULL DEFAULT '',
  shared TINYINT(1) NOT NULL DEFAULT 0,
  version BIGINT NOT NULL DEFAULT 1,
  key_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  nonce VARBINARY(64) NOT NULL,
  ciphertext MEDIUMBLOB NOT NULL,
  created_us BIGINT NOT NULL,
  updated_us BIGINT NOT NULL,
  KEY by_key (key_id, name)
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

-- Written after the change; kept for a year. changes: the changed fields, a JSON list.
CREATE TABLE IF NOT EXISTS audit_log (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  at_us BIGINT NOT NULL,
  actor VARCHAR(255) NOT NULL,
  action VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  object_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason TEXT NOT NULL,
  trace_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  changes MEDIUMTEXT NULL,
  KEY by_object (object_id, id),
  KEY by_time (at_us),
  KEY by_actor (actor, id, action),
  KEY by_action (action, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- is_open: 1 until every item has its result, then NULL. lease moves when a member takes the
-- action; writes under an older lease are refused.
CREATE TABLE IF NOT EXISTS bulk_actions (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  bulk_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  action VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  state ENUM('RUNNING', 'DONE', 'CANCELLED', 'STOPPED') CHARACTER SET ascii NOT NULL,
  is_open TINYINT(1) NULL,
  reason TEXT NOT NULL,
  confirm_overlap TINYINT(1) NOT NULL DEFAULT 0,
  actor VARCHAR(255) NOT NULL,
  user_id VARCHAR(64) NOT NULL DEFAULT '',
  token_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  trace_id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  total INT UNSIGNED NOT NULL,
  done INT UNSIGNED NOT NULL DEFAULT 0,
  failed INT UNSIGNED NOT NULL DEFAULT 0,
  skipped INT UNSIGNED NOT NULL DEFAULT 0,
  error TEXT NOT NULL,
  created_us BIGINT NOT NULL,
  updated_us BIGINT NOT NULL,
  ended_us BIGINT NOT NULL DEFAULT 0,
  lease BIGINT NOT NULL DEFAULT 0,
  leased_until_us BIGINT NOT NULL DEFAULT 0,
  kills TINYINT(1) NOT NULL DEFAULT 0,
  UNIQUE KEY by_bulk_id (bulk_id),
  KEY open_actions (is_open, updated_us, id),
  KEY by_user (user_id, id),
  KEY by_state (state, id),
  KEY by_end (ended_us, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- begun: a member may have executed it, though its result is not here.
CREATE TABLE IF NOT EXISTS bulk_items (
  action_id BIGINT UNSIGNED NOT NULL,
  position INT UNSIGNED NOT NULL,
  item_id VARCHAR(63) NOT NULL,
  result ENUM('pending', 'done', 'error', 'skipped') CHARACTER SET ascii NOT NULL DEFAULT 'pending',
  begun TINYINT(1) NOT NULL DEFAULT 0,
  run_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
  error TEXT NULL,
  PRIMARY KEY (action_id, position),
  KEY by_result (action_id, result, position)
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
