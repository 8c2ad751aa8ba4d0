-- Parts of runs, groups in time, pauses after failures, the topic of dead letters, waits for runs
-- of other jobs, events, and rules of nodes. Programs of schema 1 neither read nor write the new
-- columns; the new values are written once the upgrade is finished (scheduler/settings/new_fields.h). They need the key free_slots of group_slots.
-- compatible_from: 1
--
-- One ALTER a table: it is done as a whole or not at all, so a repeated one is recognized by its
-- first column that exists.

-- shard 0: the own run of its fire; others are parts of it, of kind SHARD. shard_total: how many
-- parts the own run has, also in the row of each part; 1 in all other runs. rules: of a node's run
-- (common/domain/nodes/run_rules.h); NULL: those of its job. until_us: when an open approval or wait
-- ends by itself; 0 = never.
ALTER TABLE job_runs
  ADD COLUMN shard_total INT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN rules TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  ADD COLUMN until_us BIGINT NOT NULL DEFAULT 0,
  MODIFY COLUMN kind ENUM('CRON', 'RATE', 'ONCE', 'MANUAL', 'DELAY', 'BACKFILL', 'AFTER', 'EVENT',
    'WORKFLOW', 'SHARD') CHARACTER SET ascii NOT NULL;

ALTER TABLE kept_runs
  ADD COLUMN shard_total INT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN rules TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
  ADD COLUMN until_us BIGINT NOT NULL DEFAULT 0,
  MODIFY COLUMN kind ENUM('CRON', 'RATE', 'ONCE', 'MANUAL', 'DELAY', 'BACKFILL', 'AFTER', 'EVENT',
    'WORKFLOW', 'SHARD') CHARACTER SET ascii NOT NULL;

-- parts: the own run of the fire may have to end. by_hand: a person started the chain of the run.
ALTER TABLE run_completions
  ADD COLUMN by_hand TINYINT(1) NOT NULL DEFAULT 0,
  MODIFY COLUMN target ENUM('schedule', 'dependents', 'workflow', 'parts')
    CHARACTER SET ascii NOT NULL;

-- features: the bits of common/domain/features.h. handlers: names between blanks; NULL = none.
-- Written when they change.
ALTER TABLE executors
  ADD COLUMN features BIGINT UNSIGNED NOT NULL DEFAULT 0,
  ADD COLUMN handlers MEDIUMTEXT NULL;

-- per_us: a slot is given again so long after it was last given; 0 = at once.
ALTER TABLE concurrency_groups
  ADD COLUMN per_us BIGINT NOT NULL DEFAULT 0;

ALTER TABLE group_slots
  ADD COLUMN given_us BIGINT NOT NULL DEFAULT 0,
  ADD KEY free_since (group_no, fire_us, given_us);

-- presume_dead: seconds, of a handler. deleted 2: the row of a workflow's nodes that have no job
-- (common/domain/nodes/task_jobs.h), which nobody lists.
ALTER TABLE jobs
  ADD COLUMN pause_after_failures INT NOT NULL DEFAULT 0,
  ADD COLUMN presume_dead INT NOT NULL DEFAULT 0;

-- give_up_attempt: the attempt of a handler that a person has given up; 0 = none.
ALTER TABLE run_cancels
  ADD COLUMN give_up_attempt INT UNSIGNED NOT NULL DEFAULT 0;

-- finally_us: since when only finally nodes were left; 0 = not yet.
ALTER TABLE workflow_runs
  ADD COLUMN finally_us BIGINT NOT NULL DEFAULT 0;

-- The groups that nodes of present workflows name, beside jobs.group_no.
CREATE TABLE IF NOT EXISTS workflow_groups (
  group_no INT UNSIGNED NOT NULL,
  job_no BIGINT UNSIGNED NOT NULL,
  PRIMARY KEY (group_no, job_no),
  KEY by_job (job_no)
) ENGINE=InnoDB;

-- waits: runs of job_no wait for those of upstream_job_no; schedule_id is 2 * the entry, + 1 for the
-- workflow of the entry.
ALTER TABLE job_dependencies
  MODIFY COLUMN kind ENUM('after', 'node', 'event', 'waits') CHARACTER SET ascii NOT NULL;

ALTER TABLE dead_letters
  ADD COLUMN published TINYINT(1) NOT NULL DEFAULT 0,
  ADD KEY by_published (published, id);

ALTER TABLE notices
  MODIFY COLUMN kind ENUM('failed', 'missed', 'late', 'recovered', 'job_paused', 'shed', 'approval')
    CHARACTER SET ascii NOT NULL;

ALTER TABLE deliveries
  MODIFY COLUMN kind ENUM('failed', 'missed', 'late', 'recovered', 'job_paused', 'shed', 'approval')
    CHARACTER SET ascii NOT NULL;

ALTER TABLE notice_memories
  MODIFY COLUMN kind ENUM('failed', 'missed', 'late', 'recovered', 'job_paused', 'shed', 'approval')
    CHARACTER SET ascii NOT NULL;

-- kind 'event': the triggers of events. id_blocks['event_trigger'] is raised by each write of one.
ALTER TABLE job_schedules
  ADD KEY by_kind (kind, schedule_id);

INSERT IGNORE INTO id_blocks (name, next_id) VALUES ('event_trigger', 1);

-- Events that matched a trigger, or were refused, as long as their ids are known; without payload.
-- event_key: the beginning of the SHA-256 of namespace, source and id. id of a refused one: its
-- place, and no source.
CREATE TABLE IF NOT EXISTS events (
  event_key BINARY(16) NOT NULL PRIMARY KEY,
  namespace VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  source VARCHAR(512) NOT NULL,
  id VARCHAR(300) NOT NULL,
  type VARCHAR(255) NOT NULL,
  subject VARCHAR(512) NOT NULL DEFAULT '',
  outcome ENUM('started', 'gap', 'refused') CHARACTER SET ascii NOT NULL,
  accepted_us BIGINT NOT NULL,
  starts MEDIUMTEXT NOT NULL,
  problem TEXT NOT NULL,
  KEY by_time (accepted_us, event_key)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- since_us: older records of the topic start nothing.
CREATE TABLE IF NOT EXISTS event_topics (
  topic VARCHAR(249) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  since_us BIGINT NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
