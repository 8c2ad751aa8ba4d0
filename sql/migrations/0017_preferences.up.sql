-- What a person has chosen for himself: name=value, between blanks; NULL = nothing. A member from before it names
-- its columns and leaves this one as it is.

-- MySQL has no ADD COLUMN IF NOT EXISTS.
SET @chosen = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'users' AND column_name = 'preferences') = 0,
  'ALTER TABLE users ADD COLUMN preferences VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL', 'DO 0');
PREPARE add_preferences FROM @chosen;
EXECUTE add_preferences;
DEALLOCATE PREPARE add_preferences;
