-- The logs of attempts in pieces, as they come. Partitions by day as those of job_runs; a piece goes
-- with the day of its run.
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
