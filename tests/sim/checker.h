// Observes everything that happens in the world and reports the first promise that was broken.
// The promises P1 to P9 are defined in docs/semantics.md.
//
// P2, P3, P4, P5, P8 and the table of transitions are checked at each event. P1 and P6 can be
// checked only at the end; final_checks.h does that.
//
// Time     Events are judged by the database's clock, which is the world's clock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/parts/run_part.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/job_store.h"
#include "tests/sim/dependents_check.h"
#include "tests/sim/nodes_check.h"
#include "tests/sim/parts_check.h"
#include "tests/sim/sim_warden.h"
#include "tests/sim/upstream_check.h"
#include "tests/sim/workflows_check.h"

namespace carillon::sim {

struct Violation {
  std::string promise;  // "P3 one start per attempt"
  std::string text;
};

// The state of a job according to the acknowledged API writes.
struct JobTruth {
  int64_t version = 0;
  bool paused = false;
  bool deleted = false;
  uint64_t paused_at = 0;  // sequence number of the event
  std::map<int64_t, JobDefinition> definitions;
};

// The real state of an attempt on its host, no matter what the store says.
struct AttemptTruth {
  ExecutorId host;
  HeldAttempt held;
  int starts = 0;
  bool killed_at_lease_end = true;
  std::optional<AttemptResult> end;
};

std::string Describe(const RunRow& row);  // for the text of a violation

class Checker : public WardenObserver {
 public:
  struct Ports {
    std::function<WallTime()> now;
    std::function<bool(const RunKey&, int except)> is_alive;  // true if alive on any host
    std::function<Epoch(SegmentId)> epoch;
    // The first fire of the schedule that the planner has not passed; called inside a write.
    std::function<WallTime(ScheduleId)> next_fire;
    std::function<void(const std::string&)> trace;
    // The group for which a run is queued, as it is while a write is observed; empty = none.
    std::function<std::string(const RunKey&)> group_awaited;
    memory::MemoryTables& tables;  // locked while a write of a run is observed
  };
  explicit Checker(Ports ports) : ports_(std::move(ports)) {}

  bool ok() const { return !violation_; }
  const std::optional<Violation>& violation() const { return violation_; }
  void Fail(const std::string& promise, const std::string& text);

  // ---- observed events
  void RunWritten(const RunRow* before, const RunRow* after);
  void RunEnded(const RunCompletion& end);
  void Wrote(const std::string& process, std::string_view call, const Fence& fence);
  void ProcessStarted(const ExecutorId& host, const StartAttempt& start) override;
  void AttemptEndedOnDisk(const ExecutorId& host, const AttemptEnded& ended) override;
  void LeasesRenewed(const ExecutorId& host, size_t count, Duration ahead) override;

  // ---- leases, as a member sends them
  void Taken(const std::string& process, const Fence& fence);
  void LeaseRenewed(const std::string& process, SegmentId segment, const RunKey& key,
                    ClaimToken token);
  void LosingBegins(const std::string& process, const std::vector<LostReport>& reports);
  void LosingEnded(const std::string& process, const std::vector<LostReport>& reports,
                   bool answered);

  // ---- acknowledged API calls
  void JobAcknowledged(const StoredJob& job);
  void DeleteAcknowledged(JobNo job) { jobs_[job].deleted = true; }
  void CancelAcknowledged(const RunKey& key) { cancelled_at_[key] = ++events_; }
  void GroupAcknowledged(const std::string& name, int64_t limit, Duration per);
  // Whether the backfill of a job may create runs, after it was started, resumed, paused or
  // cancelled.
  enum class Backfilling { kAllowed, kEnded };
  void BackfillAcknowledged(JobNo job, Backfilling state) { backfills_[job] = state; }
  // BeginByHand and its end enclose a manual operation, for which some rules do not apply. If the
  // user has confirmed it, the operation may also cause an overlap.
  enum class ByHand { kUnconfirmed, kConfirmed };
  void BeginByHand(const RunKey& key, ByHand deed) {
    by_hand_ = key;
    by_hand_confirmed_ = deed == ByHand::kConfirmed;
  }
  void EndByHand() { by_hand_.reset(); }

  // ---- for the final checks and for the actor
  const std::map<RunKey, RunRow>& rows() const { return rows_; }
  const std::map<AttemptName, AttemptTruth>& attempts() const { return attempts_; }
  const std::map<JobNo, JobTruth>& jobs() const { return jobs_; }
  size_t starts() const { return starts_; }
  size_t scripts() const { return scripts_; }  // of the starts
  size_t claims() const { return claims_; }
  size_t losses() const { return losses_; }                    // LOST batches written
  size_t killed_by_lease() const { return killed_by_lease_; }  // processes
  // The due time of a run since it left the queue of its job for the last time; nullopt: it
  // never did.
  std::optional<WallTime> AdmittedAt(const RunKey& key) const {
    const auto found = admitted_at_.find(key);
    return found == admitted_at_.end() ? std::nullopt : std::optional(found->second);
  }
  // True if nothing happens to the run without a person: it is final, HELD, or queued behind runs
  // that are HELD.
  bool Rests(const RunRow& row) const;
  size_t admissions() const { return admissions_; }
  // Runs that hold slots of the group: active attempts, and admitted runs.
  int64_t GroupHolders(const std::string& name) const;
  int64_t GroupHeld(const std::string& name) const;  // HELD runs among them
  // By group: the runs that are queued for it, in their order.
  const std::map<std::string, std::set<GroupPlace>>& group_queues() const { return group_queues_; }
  const std::map<std::string, int64_t>& group_limits() const { return limits_; }
  bool WaitsForGroup(const RunKey& key) const { return group_waits_.contains(key); }
  size_t delays() const { return delays_; }  // runs planned after the end of another one
  const DependentsCheck& dependents() const { return dependents_; }
  WorkflowsCheck& workflows() { return workflows_; }
  const WorkflowsCheck& workflows() const { return workflows_; }
  NodesCheck& nodes() { return nodes_; }
  const NodesCheck& nodes() const { return nodes_; }
  const PartsCheck& parts() const { return parts_; }
  UpstreamCheck& waits() { return waits_; }
  const UpstreamCheck& waits() const { return waits_; }
  bool WasCancelled(const RunKey& key) const { return cancelled_at_.contains(key); }

 private:
  void CheckParameters(const AttemptName& name, const StartAttempt& start);
  void CheckPlace(const AttemptName& name, const StartAttempt& start);
  void Claimed(const RunRow& before, const RunRow& after);
  // True if a user is about to change this run, another one of its workflow run, or its fire.
  bool IsByHand(const RunKey& key) const;
  // The same, but only for this run and its fire.
  bool IsItselfByHand(const RunKey& key) const {
    return by_hand_ && OwnRunOf(*by_hand_) == OwnRunOf(key);
  }
  // True for a part of a fire that begins, perhaps once more.
  bool BeginsAgain(const RunKey& key) const { return IsPart(key) && parts_.Begins(OwnRunOf(key)); }
  void CheckFireIsDead(const RunRow& before, const RunRow& after);
  bool OutlivesItsJob(const RunKey& part) const;
  bool EndsWithoutExecutor(const RunRow& before) const;
  void CheckObeys(const RunRow& row);
  void CheckOverlapPolicy(const RunRow& row);
  void CheckRetryConditions(const RunRow& before, const RunRow& after);
  void CheckGivenBack(const RunRow& before, const RunRow& after);
  void CheckDelay(const RunRow& row);
  void FollowQueue(const RunRow& before, const RunRow& after);
  void CheckTakesSlot(const RunRow& row, std::string_view what);
  void FollowGroup(const RunRow& before, const RunRow& after);
  void CheckGroupLimit(const RunRow& row);
  void CheckGroupTime(const std::string& name, int64_t limit, const RunRow& row);
  void NoteStartInGroup(const RunRow& before, const RunRow& after);
  const std::string& GroupOf(const RunRow& row) const;
  void LeaveGroupQueue(const RunKey& key);
  void CheckOrder(const RunRow& row, const std::set<RunKey>& others, std::string_view what);
  // The definition that the run executes; null if it was not acknowledged.
  const JobDefinition* DefinitionOf(const RunRow& row) const;
  void CheckTreeIsDead(const RunRow& before, const RunRow& after);
  void CheckCancelStays(const RunRow& before, const RunRow& after);
  void CheckTransition(const RunRow& before, const RunRow& after);
  void Retried(const RunRow& after);
  bool IsBackfilled(const RunRow* before, const RunRow& after) const;
  void Backfilled(const RunRow& after);

  const Ports ports_;
  std::optional<Violation> violation_;
  uint64_t events_ = 0;
  std::map<RunKey, RunRow> rows_;
  std::map<RunKey, uint64_t> created_at_;    // sequence number of the event
  std::map<RunKey, uint64_t> retried_at_;    // when a user retried the run
  std::map<RunKey, uint64_t> cancelled_at_;  // when the cancel was acknowledged
  std::set<RunKey> confirmed_overlap_;       // a user confirmed it while the old run is active
  std::map<AttemptName, ClaimToken> accepted_;
  std::map<AttemptName, std::string> parameters_;  // of the run's row at the claim, as JSON
  std::map<AttemptName, AttemptTruth> attempts_;
  std::map<JobNo, JobTruth> jobs_;
  std::map<JobNo, std::set<RunKey>> queued_;   // runs that wait for a slot
  std::map<JobNo, std::set<RunKey>> holders_;  // have one, and wait for a claim or a group
  std::map<RunKey, WallTime> admitted_at_;
  std::map<std::string, int64_t> limits_;  // of groups, as acknowledged
  struct GroupTime {
    Duration per{};
    std::map<ClaimToken, WallTime> starts = {};  // by attempt; the claim until it has ended
  };
  std::map<std::string, GroupTime> group_times_;
  std::map<std::string, std::set<GroupPlace>> group_queues_;
  std::map<RunKey, std::pair<std::string, GroupPlace>> group_waits_;  // places in them
  std::map<JobNo, Backfilling> backfills_;
  // The attempt that a backfill made, or the begin of a fire that begins once more.
  std::map<RunKey, int> backfilled_;
  size_t admissions_ = 0;
  std::map<ScheduleId, std::set<RunKey>> delay_runs_;
  std::map<RunKey, WallTime> delay_ends_;  // the first end of each, not after it was stored
  size_t delays_ = 0;
  DependentsCheck dependents_;
  WorkflowsCheck workflows_{ports_.tables};
  NodesCheck nodes_{ports_.tables, ports_.now};
  PartsCheck parts_{ports_.tables, ports_.now};
  UpstreamCheck waits_{ports_.tables, ports_.now};
  std::optional<RunKey> by_hand_;
  bool by_hand_confirmed_ = false;
  struct Taking {
    std::string process;
    WallTime at;
  };
  std::map<SegmentId, Taking> taken_;
  // Tokens in LOST batches, by the processes that write them; an owner that was deposed does not
  // know it yet. True: its lease was renewed since.
  std::map<ClaimToken, std::map<std::string, bool>> losing_;
  size_t scripts_ = 0;
  size_t starts_ = 0;
  size_t claims_ = 0;
  size_t losses_ = 0;
  size_t killed_by_lease_ = 0;
};

}  // namespace carillon::sim
