-- Bulk actions that outlive their request, and their items. is_open is 1 until every item has its result, then
-- NULL: the index of what is to be done is as small as that. lease moves when a member takes the action; what
-- another one writes under an older number is refused.

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
  UNIQUE KEY by_bulk_id (bulk_id),
  KEY open_actions (is_open, updated_us, id),
  KEY by_user (user_id, id),
  KEY by_state (state, id),
  KEY by_end (ended_us, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- begun: a member may have done it, though its result is not here.
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
