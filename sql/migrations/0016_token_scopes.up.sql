-- What an API token may do of what its role may: names of permissions, between blanks; empty = all of it.

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @scoped = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'tokens' AND column_name = 'scopes') = 0,
  'ALTER TABLE tokens ADD COLUMN scopes VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''''', 'DO 0');
PREPARE add_scopes FROM @scoped;
EXECUTE add_scopes;
DEALLOCATE PREPARE add_scopes;
