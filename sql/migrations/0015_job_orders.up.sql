-- Jobs are listed in the order of their times, page by page at any depth. The columns change with edits, never
-- with a run. Deleted jobs are kept, and are not to be walked through. Both indexes are made while others read and write (InnoDB, INPLACE).

-- MySQL has no ADD KEY IF NOT EXISTS.
SET @by_create = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_create_time') = 0,
  'ALTER TABLE jobs ADD KEY by_create_time (deleted, create_time, job_id)', 'DO 0');
PREPARE add_by_create FROM @by_create;
EXECUTE add_by_create;
DEALLOCATE PREPARE add_by_create;

SET @by_update = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_update_time') = 0,
  'ALTER TABLE jobs ADD KEY by_update_time (deleted, update_time, job_id)', 'DO 0');
PREPARE add_by_update FROM @by_update;
EXECUTE add_by_update;
DEALLOCATE PREPARE add_by_update;
