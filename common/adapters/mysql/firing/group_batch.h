// Takes runs out of the queue of a concurrency group when slots are free, and frees slots that
// nobody uses, in the caller's transaction.
#pragma once

#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/adapters/mysql/firing/queue_batch.h"
#include "common/ports/store/queue_store.h"

namespace carillon::mysql {

// As QueueStore::ScanGroups.
Result<GroupScan> ReadAdmissibleGroups(Session& session, const std::vector<SegmentId>& segments,
                                       GroupNo after, size_t limit, WallTime now);

// As QueueStore::AdmitGroup. Locks the segments, the group, runs and slots, in this order.
Result<AdmissionEffect> AdmitGroupBatch(Session& session, GroupNo group_no,
                                        const AdmitRules& rules);

// Slots of all groups, free ones included, that one call looks at. All of them may be taken, and
// each taken one has a run to be looked at.
inline constexpr int64_t kSlotsLookedAtPerCall = 20'000;
struct UnusedSlots {
  std::vector<UnusedSlot> slots = {};
  uint64_t next = 0;  // where the next call continues; 0 = with the first slot
};
// As QueueStore::ScanUnusedSlots, of the next slots after `from`.
Result<UnusedSlots> ReadUnusedSlots(Session& session, const std::vector<SegmentId>& segments,
                                    WallTime now, size_t limit, uint64_t from);
// As QueueStore::ReclaimSlots. Locks the segments, the runs and the slots, and looks again.
Result<size_t> ReclaimBatch(Session& session, const std::vector<UnusedSlot>& unused,
                            const AdmitRules& rules);

}  // namespace carillon::mysql
