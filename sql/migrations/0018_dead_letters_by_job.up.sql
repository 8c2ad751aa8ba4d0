-- Runs of one job that used up their attempts. The index is made while others read and write (InnoDB, INPLACE).

-- MySQL has no ADD KEY IF NOT EXISTS.
SET @by_job = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'dead_letters' AND index_name = 'by_job') = 0,
  'ALTER TABLE dead_letters ADD KEY by_job (job_no)', 'DO 0');
PREPARE add_by_job FROM @by_job;
EXECUTE add_by_job;
DEALLOCATE PREPARE add_by_job;
