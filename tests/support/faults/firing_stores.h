// The store ports of the firing path whose calls go through a CallGate.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/ports/store/firing_store.h"
#include "common/ports/store/letter_store.h"
#include "common/ports/store/queue_store.h"
#include "common/ports/store/segment_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultSegmentStore : public FaultStore<SegmentStore> {
 public:
  using FaultStore::FaultStore;
  Result<WallTime> Now() override { return Call("Now", &SegmentStore::Now); }
  Result<TakenSegments> Take(const TakeRequest& request) override {
    const auto take = [this](SegmentStore& store, const TakeRequest& wanted) {
      auto taken = store.Take(wanted);
      if (taken.ok()) gate_.Taken(taken->fence);
      return taken;
    };
    return Call("Take", take, request);
  }
  Status Release(const Fence& fence) override {
    return Call("Release", &SegmentStore::Release, fence);
  }
  Result<std::vector<SegmentRecord>> ReadEpochs(const std::vector<SegmentId>& segments) override {
    return Call("ReadEpochs", &SegmentStore::ReadEpochs, segments);
  }
  Result<std::vector<SegmentRecord>> ListSegments() override {
    return Call("ListSegments", &SegmentStore::ListSegments);
  }
};

class FaultFiringStore : public FaultStore<FiringStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<DueSchedule>> ScanDue(const std::vector<SegmentId>& segments, WallTime until,
                                           size_t limit) override {
    return Call("ScanDue", &FiringStore::ScanDue, segments, until, limit);
  }
  Result<std::vector<DueSchedule>> ScanOutdated(const std::vector<SegmentId>& segments,
                                                const std::vector<CalendarAt>& calendars,
                                                size_t limit) override {
    return Call("ScanOutdated", &FiringStore::ScanOutdated, segments, calendars, limit);
  }
  Status Plan(const PlanBatch& batch, const Fence& fence, WallTime now) override {
    return Write("Plan", &FiringStore::Plan, batch, fence, now);
  }
  Result<PendingPage> ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                  std::optional<std::pair<WallTime, RunKey>> after,
                                  size_t limit) override {
    return Call("ScanPending", &FiringStore::ScanPending, segments, until, after, limit);
  }
  Result<JobPendingPage> ScanPendingOfJob(const JobWindow& window, std::optional<RunKey> after,
                                          size_t limit) override {
    return Call("ScanPendingOfJob", &FiringStore::ScanPendingOfJob, window, after, limit);
  }
  Result<RunningPage> ScanRunning(const std::vector<SegmentId>& segments,
                                  std::optional<RunCursor> after, size_t limit) override {
    return Call("ScanRunning", &FiringStore::ScanRunning, segments, after, limit);
  }
  Result<RunningPage> ScanCancelRequests(const std::vector<SegmentId>& segments,
                                         std::optional<RunCursor> after, size_t limit) override {
    return Call("ScanCancelRequests", &FiringStore::ScanCancelRequests, segments, after, limit);
  }
  Result<RunningPage> ScanPresumed(const std::vector<SegmentId>& segments,
                                   std::optional<RunCursor> after, size_t limit) override {
    return Call("ScanPresumed", &FiringStore::ScanPresumed, segments, after, limit);
  }
  Result<std::vector<JobVersionRecord>> LoadDefinitions(
      const std::vector<JobVersionKey>& keys) override {
    return Call("LoadDefinitions", &FiringStore::LoadDefinitions, keys);
  }
  Result<RunRequest> LoadRunRequest(const RunKey& key) override {
    return Call("LoadRunRequest", &FiringStore::LoadRunRequest, key);
  }
  Result<std::map<RunKey, std::string>> LoadRunRules(const std::vector<RunKey>& keys) override {
    return Call("LoadRunRules", &FiringStore::LoadRunRules, keys);
  }
  Result<std::vector<ClaimReply>> Claim(const std::vector<ClaimRequest>& requests,
                                        const Fence& fence, WallTime now) override {
    // Reported for the trace also if the write takes effect later.
    const auto claim = [&gate = gate_](FiringStore& store, const auto& all, const auto&... rest) {
      auto replies = store.Claim(all, rest...);
      if (replies.ok()) gate.Answered(all, *replies);
      return replies;
    };
    return Write("Claim", claim, requests, fence, now);
  }
  Result<std::vector<RunKey>> Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                   WallTime now) override {
    return Write("Skip", &FiringStore::Skip, items, fence, now);
  }
  Result<std::vector<RunEffect>> ApplyResults(const std::vector<ResultReport>& reports,
                                              const Fence& fence, WallTime now) override {
    return Write("ApplyResults", &FiringStore::ApplyResults, reports, fence, now);
  }
  Result<std::vector<RunEffect>> MarkLost(const std::vector<LostReport>& reports,
                                          const Fence& fence, WallTime now) override {
    gate_.LosingBegins(reports);
    auto effects = Write("MarkLost", &FiringStore::MarkLost, reports, fence, now);
    gate_.LosingEnded(reports, effects.ok());
    return effects;
  }
  Result<std::vector<RunEffect>> GiveUp(const std::vector<LostReport>& reports, const Fence& fence,
                                        WallTime now) override {
    return Write("GiveUp", &FiringStore::GiveUp, reports, fence, now);
  }
  Result<std::vector<RunEffect>> Presume(const std::vector<LostReport>& reports, const Fence& fence,
                                         WallTime now) override {
    return Write("Presume", &FiringStore::Presume, reports, fence, now);
  }
  Result<OverdueReport> ReadOverdue(WallTime now) override {
    return Call("ReadOverdue", &FiringStore::ReadOverdue, now);
  }
};

class FaultQueueStore : public FaultStore<QueueStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<QueuedJob>> ScanQueues(const std::vector<SegmentId>& segments, JobNo after,
                                            size_t limit) override {
    return Call("ScanQueues", &QueueStore::ScanQueues, segments, after, limit);
  }
  Result<AdmissionEffect> Admit(const QueuedJob& job, const Fence& fence, WallTime now) override {
    return Write("Admit", &QueueStore::Admit, job, fence, now);
  }
  Result<GroupScan> ScanGroups(const std::vector<SegmentId>& segments, GroupNo after, size_t limit,
                               WallTime now) override {
    return Scan("ScanGroups", &QueueStore::ScanGroups, segments, after, limit, now);
  }
  Result<AdmissionEffect> AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                     WallTime now) override {
    return Write("AdmitGroup", &QueueStore::AdmitGroup, group, fence, now);
  }
  Result<std::vector<UnusedSlot>> ScanUnusedSlots(const std::vector<SegmentId>& segments,
                                                  WallTime now, size_t limit) override {
    return Scan("ScanUnusedSlots", &QueueStore::ScanUnusedSlots, segments, now, limit);
  }
  Result<size_t> ReclaimSlots(const std::vector<UnusedSlot>& slots, const Fence& fence,
                              WallTime now) override {
    return Write("ReclaimSlots", &QueueStore::ReclaimSlots, slots, fence, now);
  }
  Result<std::vector<SkipItem>> ScanExpired(const std::vector<SegmentId>& segments, WallTime now,
                                            size_t limit) override {
    return Call("ScanExpired", &QueueStore::ScanExpired, segments, now, limit);
  }
  Result<int64_t> CountQueued() override { return Call("CountQueued", &QueueStore::CountQueued); }
  Result<JobQueue> ReadQueue(const JobId& id, size_t limit) override {
    return Call("ReadQueue", &QueueStore::ReadQueue, id, limit);
  }
  Result<std::optional<QueuePlace>> PlaceOf(const RunKey& key) override {
    return Call("PlaceOf", &QueueStore::PlaceOf, key);
  }
};

class FaultStreakStore : public FaultStore<StreakStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<FailingJob>> ScanFailing(const std::vector<SegmentId>& segments,
                                              WallTime since, std::optional<JobNo> after,
                                              size_t limit) override {
    return Scan("ScanFailing", &StreakStore::ScanFailing, segments, since, after, limit);
  }
  Result<Streak> ReadStreak(const FailingJob& job, WallTime now) override {
    return Call("ReadStreak", &StreakStore::ReadStreak, job, now);
  }
  Result<bool> PauseFailing(const FailingJob& job, const Fence& fence,
                            const WriteContext& context) override {
    return Write("PauseFailing", &StreakStore::PauseFailing, job, fence, context);
  }
};

class FaultLetterStore : public FaultStore<LetterStore> {
 public:
  using FaultStore::FaultStore;
  Result<uint64_t> BeginPublishing(WallTime now) override {
    return Call("BeginPublishing", &LetterStore::BeginPublishing, now);
  }
  Result<LettersToPublish> ScanUnpublished(uint64_t first, size_t limit) override {
    return Call("ScanUnpublished", &LetterStore::ScanUnpublished, first, limit);
  }
  Result<LetterBacklog> GetBacklog() override {
    return Call("GetBacklog", &LetterStore::GetBacklog);
  }
  Status MarkPublished(const std::vector<uint64_t>& ids) override {
    return Call("MarkPublished", &LetterStore::MarkPublished, ids);
  }
};

}  // namespace carillon::test
