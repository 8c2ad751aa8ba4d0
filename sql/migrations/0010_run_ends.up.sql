-- How a run ended that did not end well, so that the few among millions are found: the number of its state, NULL
-- for those that are open or COMPLETED. It changes with an end that is none of the usual ones, so what runs well
-- costs the index nothing but its entry.

-- MySQL has neither ADD COLUMN IF NOT EXISTS nor ADD KEY IF NOT EXISTS.
SET @ends = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'ended_as') = 0,
  'ALTER TABLE job_runs ADD COLUMN ended_as TINYINT UNSIGNED NULL', 'DO 0');
PREPARE add_ends FROM @ends;
EXECUTE add_ends;
DEALLOCATE PREPARE add_ends;

-- All of history is read for it: once, also where the index could not be made in the first try.
SET @backfill = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND index_name = 'by_end') = 0,
  'UPDATE job_runs SET ended_as = state + 0 WHERE open_segment IS NULL AND state <> ''COMPLETED'' AND ended_as IS NULL',
  'DO 0');
PREPARE backfill FROM @backfill;
EXECUTE backfill;
DEALLOCATE PREPARE backfill;

SET @by_end = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND index_name = 'by_end') = 0,
  'ALTER TABLE job_runs ADD KEY by_end (ended_as, fire_us, schedule_id, shard, job_no)', 'DO 0');
PREPARE add_by_end FROM @by_end;
EXECUTE add_by_end;
DEALLOCATE PREPARE add_by_end;
