-- A search for a part of a job's name or id, in the order of the ids, reads this index alone. The columns change with
-- edits, never with a run. The index is made while others read and write (InnoDB, INPLACE).
-- compatible_from: 20

-- MySQL has no ADD KEY IF NOT EXISTS.
SET @by_id = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'jobs' AND index_name = 'by_id_and_name') = 0,
  'ALTER TABLE jobs ADD KEY by_id_and_name (job_id, name)', 'DO 0');
PREPARE add_by_id FROM @by_id;
EXECUTE add_by_id;
DEALLOCATE PREPARE add_by_id;
