-- When an executor's incarnation was last the current one: the numbers of those that have not been for
-- longer than runs are kept can go.

CREATE TABLE IF NOT EXISTS incarnation_uses (
  incarnation_no INT UNSIGNED NOT NULL PRIMARY KEY,
  seen_us BIGINT NOT NULL,
  KEY by_time (seen_us)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
