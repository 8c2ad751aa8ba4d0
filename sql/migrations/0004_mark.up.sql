-- A number that the leader moves forward every few seconds: a store that shows a lower one than was
-- seen before has lost what was committed (docs/adr/0009). MySQL has no ADD COLUMN IF NOT EXISTS.

SET @mark = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'store_identity' AND column_name = 'mark') = 0,
  'ALTER TABLE store_identity ADD COLUMN mark BIGINT UNSIGNED NOT NULL DEFAULT 0', 'DO 0');
PREPARE add_mark FROM @mark;
EXECUTE add_mark;
DEALLOCATE PREPARE add_mark;
