// All ports of one store, for code that passes them on: composition roots, the member, the REST
// API. A class that uses only a few ports takes these and not all.
#pragma once

#include "common/ports/events/event_store.h"
#include "common/ports/store/audit_store.h"
#include "common/ports/store/auth_store.h"
#include "common/ports/store/backfill_store.h"
#include "common/ports/store/bulk_store.h"
#include "common/ports/store/calendar_store.h"
#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/group_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/idempotency_store.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/job_store.h"
#include "common/ports/store/letter_store.h"
#include "common/ports/store/log_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/run_store.h"
#include "common/ports/store/secret_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/settings_store.h"
#include "common/ports/store/streak_store.h"
#include "common/ports/store/upstream_store.h"
#include "common/ports/store/workflow_store.h"

namespace carillon {

struct Stores {
  IdentityStore& identity;
  SegmentStore& segments;
  FiringStore& firing;
  QueueStore& queues;
  GroupStore& groups;
  JobStore& jobs;
  RunStore& runs;
  LogStore& logs;
  NoticeStore& notices;
  ExecutorStore& executors;
  IdempotencyStore& idempotency;
  SettingsStore& settings;
  AuditStore& audit;
  Housekeeping& housekeeping;
  AuthStore& auth;
  SecretStore& secrets;
  BulkStore& bulk;
  CompletionStore& completions;
  BackfillStore& backfills;
  CalendarStore& calendars;
  WorkflowStore& workflows;
  CheckpointStore& checkpoints;
  StreakStore& streaks;
  LetterStore& letters;
  UpstreamStore& upstream;
  EventStore& events;
};

}  // namespace carillon
