-- Runs of workflows. The runs of their nodes are in job_runs; the API refuses workflows while a member of an earlier
-- version lives.
-- compatible_from: 20

INSERT IGNORE INTO id_blocks (name, next_id) VALUES ('workflow_run', 1);

-- (fire_us, schedule_id, shard): the workflow's own run. open_segment: NULL once it has ended. timed_out: the deadline
-- has passed while nodes were open. parameters: those of the run, of its schedule and the defaults, as JSON.
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
  UNIQUE KEY by_run (fire_us, schedule_id, shard),
  KEY by_open (open_segment, no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
