-- Jobs are found by their name, as files name them; the audit keeps which fields of a job changed, as a
-- JSON list.

-- MySQL has neither ADD COLUMN IF NOT EXISTS nor ADD KEY IF NOT EXISTS.
SET @named = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_name') = 0,
  'ALTER TABLE jobs ADD KEY by_name (name, job_id)', 'DO 0');
PREPARE add_named FROM @named;
EXECUTE add_named;
DEALLOCATE PREPARE add_named;

SET @told = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'audit_log' AND column_name = 'changes') = 0,
  'ALTER TABLE audit_log ADD COLUMN changes MEDIUMTEXT NULL', 'DO 0');
PREPARE add_told FROM @told;
EXECUTE add_told;
DEALLOCATE PREPARE add_told;
