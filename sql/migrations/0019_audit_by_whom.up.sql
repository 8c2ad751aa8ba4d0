-- What one person did, and what was done of one kind. The indexes are made while others read and write (InnoDB, INPLACE).
-- An index of whom has what was done beside it: where both are asked for, rows of another kind are not read.

-- MySQL has no ADD KEY IF NOT EXISTS.
SET @by_actor = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'audit_log' AND index_name = 'by_actor') = 0,
  'ALTER TABLE audit_log ADD KEY by_actor (actor, id, action)', 'DO 0');
PREPARE add_by_actor FROM @by_actor;
EXECUTE add_by_actor;
DEALLOCATE PREPARE add_by_actor;

SET @by_action = IF(
  (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = DATABASE()
   AND table_name = 'audit_log' AND index_name = 'by_action') = 0,
  'ALTER TABLE audit_log ADD KEY by_action (action, id)', 'DO 0');
PREPARE add_by_action FROM @by_action;
EXECUTE add_by_action;
DEALLOCATE PREPARE add_by_action;
