-- Progress and checkpoints of runs. Partitions by day as those of job_runs; a row goes with the day of its run. A member of
-- an earlier version neither reads nor writes them, so that during an upgrade a run may begin anew.
-- compatible_from: 20

-- attempt, seq: of the last save. progress_at_us, saved_at_us: NULL = no progress, no checkpoint. checkpoint_attempt: that
-- saved the checkpoint.
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
