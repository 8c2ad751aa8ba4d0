-- Secrets of jobs. The value is sealed (XChaCha20-Poly1305) by a member, with a key that is not in the store.

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
