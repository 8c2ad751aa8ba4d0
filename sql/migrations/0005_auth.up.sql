-- Users, their sessions, the key that access tokens are signed with, the one-time setup link, and what
-- API tokens lacked. Passwords are Argon2id strings; of refresh tokens, API tokens and the setup link only
-- hashes are here. A token of before keeps working: its id comes from its hash, nobody owns it, it never
-- expires.

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

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @owned = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'tokens' AND column_name = 'token_id') = 0,
  'ALTER TABLE tokens ADD COLUMN token_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NULL,
   ADD COLUMN prefix VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
   ADD COLUMN user_id VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
   ADD COLUMN expires_us BIGINT NOT NULL DEFAULT 0,
   ADD COLUMN last_used_us BIGINT NOT NULL DEFAULT 0,
   ADD UNIQUE KEY by_id (token_id), ADD KEY by_user (user_id)', 'DO 0');
PREPARE add_owned FROM @owned;
EXECUTE add_owned;
DEALLOCATE PREPARE add_owned;

UPDATE tokens SET token_id = CONCAT('tok-', LEFT(token_hash, 16)) WHERE token_id IS NULL;
