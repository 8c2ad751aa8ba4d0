// Interface between the API and the member in which it runs. The API queries the member, and nudges
// it so that a change takes effect at once.
//
// Place    member/member.h implements it; api/ and its tests see only this.
// Threads  Thread-safe. GetStatus() copies under a few short locks. Only AcceptStore blocks on the
//          store and the coordinator.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/overload_levels.h"
#include "common/domain/store_trust.h"
#include "common/ports/coordinator.h"
#include "common/ports/message_bus.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/firing_store.h"

namespace carillon::scheduler {

struct QueueDepth {
  std::string name;
  size_t depth = 0;
  size_t capacity = 0;
};

struct MemberStatus {
  MemberId self;
  Incarnation incarnation;
  bool is_leader = false;
  std::optional<MemberId> leader = {};
  std::vector<MemberInfo> members = {};
  std::vector<SegmentId> owned_segments = {};  // ascending; only recovered ones, which are planned
  size_t recovering_segments = 0;              // taken, not yet recovered
  std::vector<ExecutorRecord> executors = {};  // executors with a link to this member, by id
  Duration clock_offset = {};                  // this host's wall clock minus the database's clock
  bool clock_trusted = false;                  // measured, and within the limit (500 ms)
  Duration late_p50 = {};                      // due until its task is sent
  Duration late_p99 = {};
  Duration oldest_overdue = {};                   // due and not claimed; zero = none
  Duration oldest_unplanned = {};                 // due and not planned; zero = none
  std::vector<UnplannedJob> unplanned_jobs = {};  // as in the OverdueReport
  std::vector<QueueDepth> queues = {};
  std::map<std::string, BusHealth> topics = {};  // the topics that this member reads
  SessionState session = SessionState::kSuspended;
  bool paused = false;     // the pause of the whole cluster is in force here
  bool accepting = false;  // planning is not stopped by a backlog
  std::optional<Overload> overload = {};
};

class MemberView {
 public:
  virtual ~MemberView() = default;
  virtual MemberStatus GetStatus() const = 0;
  // Call it after a change in the store (run now, edit, cancel, retry). The change is then scanned
  // at once and not only by the next periodic scan. Cheap, and harmless for a segment that this
  // member does not own.
  virtual void Nudge(const ChangedWork& work) = 0;
  // Call it after the enabled or draining switch of an executor changed in the store. The member
  // then reads the switch at once.
  virtual void NudgeExecutors() = 0;
  // Used by /readyz. True if clock and store are trusted, the store answered recently, and every
  // segment that is assigned here is owned and recovered.
  virtual bool ready() const = 0;
  // Cluster time, as WriteContext::now requires it. kUnavailable before the first measurement.
  virtual Result<WallTime> ClusterNow() const = 0;
  // Returns whether the store that answers is the trusted one.
  virtual StoreStanding GetStoreStanding() const = 0;
  // Trusts the store that was shown to an operator and that the operator accepted. Waits for store
  // and coordinator. kConflict: another store answers, or the store is not held.
  virtual Status AcceptStore(const StoreIdentity& shown) = 0;
};

}  // namespace carillon::scheduler
