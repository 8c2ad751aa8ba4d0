-- How long the leases may be that a segment's owner grants, and those before it that may still be in force: members of different
-- settings take over from each other, and a run is not given up before every lease of it is over.
-- MySQL has no ADD COLUMN IF NOT EXISTS.
-- compatible_from: 19
SET @lease = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'segments' AND column_name = 'lease_us') = 0,
  'ALTER TABLE segments ADD lease_us BIGINT NOT NULL DEFAULT 0, ADD lease_before_us BIGINT NOT NULL DEFAULT 0, ADD taken_us BIGINT NOT NULL DEFAULT 0',
  'DO 0');
PREPARE add_lease FROM @lease;
EXECUTE add_lease;
DEALLOCATE PREPARE add_lease;
