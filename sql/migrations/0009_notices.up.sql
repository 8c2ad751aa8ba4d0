-- What people are to be told (docs/notify.md). A notice is written by the transaction that makes it
-- true; open_segment is its segment until the owner has decided about it, then NULL. Not by day as runs
-- are: a notice is found by its run, and there are few.
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

-- A notice on its way through one channel. message is what is sent, each time the same.
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

-- What was last told of a job, by kind. watched_segment: a failure was told and no success since;
-- failed_fire_us and failed_us say from where on one counts.
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
