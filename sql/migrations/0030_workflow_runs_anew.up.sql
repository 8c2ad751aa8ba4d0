-- A workflow's run that begins anew gets another workflow run; the one before stays, with its nodes. A member of an
-- earlier version reads the present one, which is the first of the index, and lets such a run continue instead.
-- compatible_from: 20

-- replaced_by: the number of the workflow run that came after this one; 0 = it is the present one. So a run has at most
-- one that is present.
SET @change = IF(
  (SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = DATABASE()
   AND table_name = 'workflow_runs' AND column_name = 'replaced_by') = 0,
  'ALTER TABLE workflow_runs ADD replaced_by BIGINT UNSIGNED NOT NULL DEFAULT 0, DROP KEY by_run, ADD UNIQUE KEY by_run (fire_us, schedule_id, shard, replaced_by)',
  'DO 0');
PREPARE change_workflows FROM @change;
EXECUTE change_workflows;
DEALLOCATE PREPARE change_workflows;
