// Takes runs out of the queue of a concurrency group when slots are free, and frees slots that
// nobody uses, in the caller's transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/firing/queue_batch.h"
#include "common/ports/store/queue_store.h"

namespace carillon::mysql {

// As QueueStore::ScanGroups.
Result<std::vector<QueuedGroup>> ReadAdmissibleGroups(Session& session,
                                                      const std::vector<SegmentId>& segments,
                                                      GroupNo after, size_t limit);

// As QueueStore::AdmitGroup. Locks the segments, the group, runs and slots, in this order.
Result<AdmissionEffect> AdmitGroupBatch(Session& session, GroupNo group_no,
                                        const AdmitRules& rules);

// As QueueStore::ScanUnusedSlots.
Result<std::vector<UnusedSlot>> ReadUnusedSlots(Session& session,
                                                const std::vector<SegmentId>& segments,
                                                WallTime now, size_t limit);
// As QueueStore::ReclaimSlots. Locks the segments, the runs and the slots, and looks again.
Result<size_t> ReclaimBatch(Session& session, const std::vector<UnusedSlot>& unused,
                            const AdmitRules& rules);

}  // namespace carillon::mysql
