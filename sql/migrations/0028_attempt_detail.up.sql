-- Facts of an attempt's end that no query looks for: the resources that it used, the status of a response. A member of an earlier version neither reads nor writes them, so during an upgrade a
-- run may keep those of its earlier attempt.
-- compatible_from: 20

-- detail: "usage=1500000,25165824,0,4096;http=503" (common/domain/run/result_detail.h); NULL = none.
SET @runs = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'job_runs' AND column_name = 'detail') = 0,
  'ALTER TABLE job_runs ADD detail VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NULL',
  'DO 0');
PREPARE change_runs FROM @runs;
EXECUTE change_runs;
DEALLOCATE PREPARE change_runs;

SET @attempts = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'run_attempts' AND column_name = 'detail') = 0,
  'ALTER TABLE run_attempts ADD detail VARCHAR(200) CHARACTER SET ascii COLLATE ascii_bin NULL',
  'DO 0');
PREPARE change_attempts FROM @attempts;
EXECUTE change_attempts;
DEALLOCATE PREPARE change_attempts;
