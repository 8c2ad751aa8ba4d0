// Rules of runs that wait for runs of other jobs, judged at each write of a run by a second
// implementation: from definitions and rows as they then are, not from sources or flags.
//
// - A run that a schedule, another job or a workflow makes waits, if its job says so. A part never
//   does, and no run is claimed while it waits. A node that has not waited to the end waits on when
//   its workflow is retried.
// - A run waits no longer only if all has come for which it waits, now or when a member has last
//   read it; a person has released it; its job waits for nothing; or its limit is over. Then it is
//   FAILED. A node is blocked from then on.
// - Once faults are over, nobody waits for long although all has come, or beyond the limit.
//
// The zones of these worlds are UTC.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/ports/store/upstream_store.h"
#include "tests/twins/memory_tables.h"

namespace carillon::sim {

class UpstreamCheck {
 public:
  static constexpr Duration kReleasedWithin = 10s;
  // No wait comes to nothing so soon after a pause, or in the hands of a new owner.
  static constexpr Duration kNoneInVainFor = 15min;

  UpstreamCheck(memory::MemoryTables& tables, std::function<WallTime()> now)
      : tables_(tables), now_(std::move(now)) {}

  // Returns what is wrong with the write of a run, inside the write; nullopt: nothing.
  std::optional<std::string> RunWritten(const RunRow* before, const RunRow* after)
      REQUIRES(tables_.mu);
  // Call it when a member reads what runs wait for.
  void NoteMet();
  // Enclose the release of this run by a person.
  void BeginByHand(const RunKey& key) { by_hand_ = key; }
  void EndByHand() { by_hand_.reset(); }
  // Call it from time to time once all members are back, which they are since `settled`.
  std::optional<std::string> Look(WallTime settled);

  std::vector<RunKey> Awaiting() const { return {awaiting_.begin(), awaiting_.end()}; }
  size_t met() const { return met_count_; }
  size_t expired() const { return expired_; }

 private:
  // Why a question is not met; empty: it is.
  using Why = std::string;
  struct Met {
    WallTime at;
    int64_t version = 0;
  };
  struct Chain {
    std::set<JobNo> jobs;
    std::set<JobNo> ends;       // those after whose ends others of them start
    std::set<JobNo> workflows;  // the job, its workflows, those around them
  };
  struct Fire {
    WallTime at;
    std::vector<const memory::RunEntry*> runs;  // of the other job, and of those before it
  };

  const JobDefinition* DefinitionOf(const RunRow& row) const REQUIRES(tables_.mu);
  bool IsAskedToWait(const RunRow& row) const REQUIRES(tables_.mu);
  WallTime LimitOf(const RunRow& row) const REQUIRES(tables_.mu);
  std::optional<std::string> Made(const RunRow& row) const REQUIRES(tables_.mu);
  std::optional<std::string> Left(const RunRow& before, const RunRow& after) REQUIRES(tables_.mu);
  std::optional<std::string> Released(const RunRow& after) REQUIRES(tables_.mu);

  Why WhyNot(const RunRow& row) const REQUIRES(tables_.mu);
  Why WhyNot(const UpstreamWait& wait, WallTime fire) const REQUIRES(tables_.mu);
  Why WhyNot(const UpstreamWait& wait, JobNo job, const Chain& chain, const Fire& fire) const
      REQUIRES(tables_.mu);
  Chain ChainTo(JobNo job) const REQUIRES(tables_.mu);
  bool MayLeadToMore(const memory::RunEntry& run, const Chain& chain) const REQUIRES(tables_.mu);
  bool IsBackfilled(const memory::RunEntry& run) const REQUIRES(tables_.mu);
  bool MayBeBackfilled(const std::set<JobNo>& jobs, WallTime from, WallTime until) const
      REQUIRES(tables_.mu);
  WallTime FirstUnplanned(const std::set<JobNo>& jobs) const REQUIRES(tables_.mu);
  bool IsHistory(const memory::RunEntry& run) const REQUIRES(tables_.mu);
  bool IsByHand(const memory::RunEntry& run) const REQUIRES(tables_.mu);
  JobNo WorkflowOf(const memory::RunEntry& run) const REQUIRES(tables_.mu);
  std::vector<Fire> FiresIn(WallTime from, WallTime until,
                            const std::function<bool(const memory::RunEntry&)>& counts) const
      REQUIRES(tables_.mu);

  memory::MemoryTables& tables_;
  const std::function<WallTime()> now_;
  std::set<RunKey> awaiting_;
  std::map<RunKey, Met> met_;             // when a member has last read that all had come
  std::map<RunKey, WallTime> met_since_;  // of runs that still wait; only while Look is called
  std::optional<RunKey> by_hand_;
  size_t met_count_ = 0;
  size_t expired_ = 0;
};

// Stands between the members and the store, and tells the check when they read.
class UpstreamWitness final : public UpstreamStore {
 public:
  UpstreamWitness(UpstreamStore& store, UpstreamCheck& check) : store_(store), check_(check) {}

  Result<AwaitingPage> ScanAwaiting(const std::vector<SegmentId>& segments, WallTime until,
                                    std::optional<RunKey> after, size_t limit) override {
    return store_.ScanAwaiting(segments, until, after, limit);
  }
  Result<std::vector<UpstreamSources>> ReadSources(
      const std::vector<UpstreamTarget>& targets) override {
    check_.NoteMet();
    return store_.ReadSources(targets);
  }
  Result<std::vector<UpstreamRuns>> ReadUpstreamRuns(
      const std::vector<UpstreamSpan>& spans) override {
    check_.NoteMet();
    return store_.ReadUpstreamRuns(spans);
  }
  Result<std::vector<WaitEffect>> EndWaits(const std::vector<WaitItem>& items, const Fence& fence,
                                           WallTime now) override {
    return store_.EndWaits(items, fence, now);
  }
  Result<RunDetail> ReleaseRun(const RunKey& key, const WriteContext& context) override {
    return store_.ReleaseRun(key, context);
  }

 private:
  UpstreamStore& store_;
  UpstreamCheck& check_;
};

}  // namespace carillon::sim
