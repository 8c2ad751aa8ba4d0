// Takes runs out of the queue of a job when there is room, in the caller's transaction.
#pragma once

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/schema/incarnations.h"
#include "common/ports/fence.h"
#include "common/ports/store/queue_store.h"

namespace carillon::mysql {

// The input of AdmitBatch besides the job.
struct AdmitRules {
  Incarnations& incarnations;
  const Fence& fence;
  WallTime now;
};

// As QueueStore::Admit. Locks the segment, the job, runs and slots, in this order.
Result<AdmissionEffect> AdmitBatch(Session& session, const QueuedJob& job, const AdmitRules& rules);

}  // namespace carillon::mysql
