-- Jobs have a namespace, and a name is a key within it; a user has shares: which jobs of others he may act on
-- (docs/security.md), as a JSON list, NULL for none. by_namespace lists one namespace by job_id and finds the
-- namespaces in use without reading their jobs; deleted comes before job_id for that.

-- MySQL has neither ADD COLUMN IF NOT EXISTS nor ADD KEY IF NOT EXISTS.
SET @spaces = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND column_name = 'namespace') = 0,
  'ALTER TABLE jobs ADD COLUMN namespace VARCHAR(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT ''default''',
  'DO 0');
PREPARE add_spaces FROM @spaces;
EXECUTE add_spaces;
DEALLOCATE PREPARE add_spaces;

SET @by_space = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_namespace') = 0,
  'ALTER TABLE jobs ADD KEY by_namespace (namespace, deleted, job_id)', 'DO 0');
PREPARE add_by_space FROM @by_space;
EXECUTE add_by_space;
DEALLOCATE PREPARE add_by_space;

SET @by_full_name = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_full_name') = 0,
  'ALTER TABLE jobs ADD KEY by_full_name (namespace, name, job_id)', 'DO 0');
PREPARE add_by_full_name FROM @by_full_name;
EXECUTE add_by_full_name;
DEALLOCATE PREPARE add_by_full_name;

SET @shared = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'users' AND column_name = 'shares') = 0,
  'ALTER TABLE users ADD COLUMN shares MEDIUMTEXT NULL', 'DO 0');
PREPARE add_shared FROM @shared;
EXECUTE add_shared;
DEALLOCATE PREPARE add_shared;
