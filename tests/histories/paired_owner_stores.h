// The store ports that owners of segments call, paired: each call goes to both stores (pairing.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/firing_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/segment_store.h"
#include "common/ports/store/settings_store.h"
#include "common/ports/store/workflow_store.h"
#include "tests/histories/pairing.h"

namespace carillon::test {

class PairedIdentityStore final : public Paired<IdentityStore> {
 public:
  using Paired::Paired;
  Result<StoreIdentity> Identify() override { return Both("Identify", &IdentityStore::Identify); }
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override {
    return Both("AdvanceMark", &IdentityStore::AdvanceMark, seen);
  }
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override {
    return Both("Accept", &IdentityStore::Accept, seen, above);
  }
  void Forget() override {
    memory_.Forget();
    database_.Forget();
  }
};

class PairedSegmentStore final : public Paired<SegmentStore> {
 public:
  using Paired::Paired;
  // The clock of the world.
  Result<WallTime> Now() override { return memory_.Now(); }
  Result<TakenSegments> Take(const TakeRequest& request) override {
    return Both("Take", &SegmentStore::Take, request);
  }
  Status Release(const Fence& fence) override {
    return Both("Release", &SegmentStore::Release, fence);
  }
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override {
    return Both("ReadEpochs", &SegmentStore::ReadEpochs, segments);
  }
  Result<std::vector<SegmentRecord>> ListSegments() override {
    return Both("ListSegments", &SegmentStore::ListSegments);
  }
};

class PairedFiringStore final : public Paired<FiringStore> {
 public:
  using Paired::Paired;
  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override {
    return Both("ScanDue", &FiringStore::ScanDue, segments, until, limit);
  }
  Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                const std::vector<CalendarAt>& calendars,
                                                size_t limit) override {
    return Both("ScanOutdated", &FiringStore::ScanOutdated, segments, calendars, limit);
  }
  Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) override {
    return Both("Plan", &FiringStore::Plan, batch, fence, now);
  }
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override {
    return Both("ScanPending", &FiringStore::ScanPending, segments, until, after, limit);
  }
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override {
    return Both("ScanPendingOfJob", &FiringStore::ScanPendingOfJob, window, after, limit);
  }
  Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                  std::optional<RunCursor> after, size_t limit) override {
    return Both("ScanRunning", &FiringStore::ScanRunning, segments, after, limit);
  }
  Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                         std::optional<RunCursor> after, size_t limit) override {
    return Both("ScanCancelRequests", &FiringStore::ScanCancelRequests, segments, after, limit);
  }
  Result<RunningPage> ScanPresumed(const std::vector<SegmentId>& segments,
                                   std::optional<RunCursor> after, size_t limit) override {
    return Both("ScanPresumed", &FiringStore::ScanPresumed, segments, after, limit);
  }
  Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) override {
    return Both("LoadDefinitions", &FiringStore::LoadDefinitions, keys);
  }
  Result<RunRequest> LoadRunRequest(const RunKey& key) override {
    return Both("LoadRunRequest", &FiringStore::LoadRunRequest, key);
  }
  Result<std::map<RunKey, std::string>> LoadRunRules(const std::vector<RunKey>& keys) override {
    return Both("LoadRunRules", &FiringStore::LoadRunRules, keys);
  }
  Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                        const Fence& fence, WallTime now) override {
    return Both("Claim", &FiringStore::Claim, requests, fence, now);
  }
  Result<std::vector<RunKey>> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                   WallTime now) override {
    return Both("Skip", &FiringStore::Skip, items, fence, now);
  }
  Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                              const Fence& fence, WallTime now) override {
    return Both("ApplyResults", &FiringStore::ApplyResults, reports, fence, now);
  }
  Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                          const Fence& fence, WallTime now) override {
    return Both("MarkLost", &FiringStore::MarkLost, reports, fence, now);
  }
  Result<std::vector<RunEffect>> GiveUp(const std::vector<LostReport>& reports, const Fence& fence,
                                        WallTime now) override {
    return Both("GiveUp", &FiringStore::GiveUp, reports, fence, now);
  }
  Result<std::vector<RunEffect>> Presume(const std::vector<LostReport>& reports, const Fence& fence,
                                         WallTime now) override {
    return Both("Presume", &FiringStore::Presume, reports, fence, now);
  }
  Result<OverdueReport> ReadOverdue(WallTime now) override {
    return Both("ReadOverdue", &FiringStore::ReadOverdue, now);
  }
};

class PairedQueueStore final : public Paired<QueueStore> {
 public:
  using Paired::Paired;
  Result<std::vector<QueuedJob>> ScanQueues(const std::vector<SegmentId>& segments, JobNo after,
                                            size_t limit) override {
    return Both("ScanQueues", &QueueStore::ScanQueues, segments, after, limit);
  }
  Result<AdmissionEffect> Admit(const QueuedJob& job, const Fence& fence, WallTime now) override {
    return Both("Admit", &QueueStore::Admit, job, fence, now);
  }
  Result<GroupScan> ScanGroups(const std::vector<SegmentId>& segments, GroupNo after, size_t limit,
                               WallTime now) override {
    return Both("ScanGroups", &QueueStore::ScanGroups, segments, after, limit, now);
  }
  Result<AdmissionEffect> AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                     WallTime now) override {
    return Both("AdmitGroup", &QueueStore::AdmitGroup, group, fence, now);
  }
  Result<std::vector<UnusedSlot>> ScanUnusedSlots(const std::vector<SegmentId>& segments,
                                                  WallTime now, size_t limit) override {
    return Both("ScanUnusedSlots", &QueueStore::ScanUnusedSlots, segments, now, limit);
  }
  Result<size_t> ReclaimSlots(const std::vector<UnusedSlot>& slots, const Fence& fence,
                              WallTime now) override {
    return Both("ReclaimSlots", &QueueStore::ReclaimSlots, slots, fence, now);
  }
  Result<std::vector<SkipItem>> ScanExpired(const std::vector<SegmentId>& segments, WallTime now,
                                            size_t limit) override {
    return Both("ScanExpired", &QueueStore::ScanExpired, segments, now, limit);
  }
  Result<int64_t> CountQueued() override { return Both("CountQueued", &QueueStore::CountQueued); }
  Result<JobQueue> ReadQueue(const JobId& id, size_t limit) override {
    return Both("ReadQueue", &QueueStore::ReadQueue, id, limit);
  }
  Result<std::optional<QueuePlace>> PlaceOf(const RunKey& key) override {
    return Both("PlaceOf", &QueueStore::PlaceOf, key);
  }
};

class PairedCompletionStore final : public Paired<CompletionStore> {
 public:
  using Paired::Paired;
  Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                     size_t limit) override {
    return Both("ScanCompletions", &CompletionStore::ScanCompletions, segments, limit);
  }
  Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                              const Fence& fence, WallTime now) override {
    return Both("Apply", &CompletionStore::Apply, ends, fence, now);
  }
  Result<std::vector<FireEffect>> EndFires(const std::vector<FireLook>& fires, const Fence& fence,
                                           WallTime now) override {
    return Both("EndFires", &CompletionStore::EndFires, fires, fence, now);
  }
  Result<std::vector<FireLook>> ScanUnended(const std::vector<SegmentId>& segments, WallTime due,
                                            size_t limit) override {
    return Both("ScanUnended", &CompletionStore::ScanUnended, segments, due, limit);
  }
  Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                               size_t limit) override {
    return Both("ScanStuck", &CompletionStore::ScanStuck, segments, limit);
  }
  Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) override {
    return Both("Revive", &CompletionStore::Revive, stuck, fence, now);
  }
};

class PairedWorkflowStore final : public Paired<WorkflowStore> {
 public:
  using Paired::Paired;
  Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence, WallTime now) override {
    return Both("Begin", &WorkflowStore::Begin, request, fence, now);
  }
  Result<PartsReply> BeginParts(const PartsRequest& request, const Fence& fence,
                                WallTime now) override {
    return Both("BeginParts", &WorkflowStore::BeginParts, request, fence, now);
  }
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override {
    return Both("ScanWakeUps", &WorkflowStore::ScanWakeUps, segments, limit);
  }
  Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                uint64_t after, size_t limit) override {
    return Both("ScanOpen", &WorkflowStore::ScanOpen, segments, after, limit);
  }
  Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests, const Fence& fence,
                                       WallTime now) override {
    return Both("Step", &WorkflowStore::Step, requests, fence, now);
  }
  Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) override {
    return Both("GetWorkflowRun", &WorkflowStore::GetWorkflowRun, key);
  }
  Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                   const WriteContext& context) override {
    return Both("SkipNode", &WorkflowStore::SkipNode, request, context);
  }
  Result<WorkflowRunView> DecideNode(const DecideNodeRequest& request,
                                     const WriteContext& context) override {
    return Both("DecideNode", &WorkflowStore::DecideNode, request, context);
  }
  Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) override {
    return Both("PreviewRetry", &WorkflowStore::PreviewRetry, key, retry);
  }
};

class PairedCheckpointStore final : public Paired<CheckpointStore> {
 public:
  using Paired::Paired;
  Result<std::vector<SaveVerdict>> Save(const std::vector<RunSave>& saves, const Fence& fence,
                                        WallTime now) override {
    return Both("Save", &CheckpointStore::Save, saves, fence, now);
  }
  Result<std::set<RunKey>> WithCheckpoint(const std::vector<RunKey>& keys) override {
    return Both("WithCheckpoint", &CheckpointStore::WithCheckpoint, keys);
  }
  Result<std::optional<std::string>> ReadCheckpoint(const RunKey& key) override {
    return Both("ReadCheckpoint", &CheckpointStore::ReadCheckpoint, key);
  }
};

class PairedStreakStore final : public Paired<StreakStore> {
 public:
  using Paired::Paired;
  Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                              WallTime since, std::optional<JobNo> after,
                                              size_t limit) override {
    return Both("ScanFailing", &StreakStore::ScanFailing, segments, since, after, limit);
  }
  Result<Streak> ReadStreak(const FailingJob& job, WallTime now) override {
    return Both("ReadStreak", &StreakStore::ReadStreak, job, now);
  }
  Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                            const WriteContext& context) override {
    return Both("PauseFailing", &StreakStore::PauseFailing, job, fence, context);
  }
};

class PairedHousekeeping final : public Paired<Housekeeping> {
 public:
  using Paired::Paired;
  Result<Upkeep> Maintain(WallTime now, const Retention& retention) override {
    return Both("Maintain", &Housekeeping::Maintain, now, retention);
  }
};

class PairedSettingsStore final : public Paired<SettingsStore> {
 public:
  using Paired::Paired;
  Result<ClusterSettings> ReadSettings() override {
    return Both("ReadSettings", &SettingsStore::ReadSettings);
  }
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused) override {
    return Both("WriteSettings", &SettingsStore::WriteSettings, expected, next, paused);
  }
};

}  // namespace carillon::test
