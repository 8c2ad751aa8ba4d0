#include "tests/support/fault_stores.h"

#include <string>

namespace carillon::test {
namespace {

Error Unavailable(std::string_view call) {
  return {ErrorCode::kUnavailable, std::string(call) + ": the store is not reachable"};
}
Error Broken(std::string_view call) {
  return {ErrorCode::kBrokenStore, std::string(call) + ": a table is missing"};
}
Error Unknown(std::string_view call) {
  return {ErrorCode::kTimeout, std::string(call) + ": the answer was lost"};
}

template <typename Call>
auto Run(CallGate& gate, std::string_view name, Call call) -> decltype(call()) {
  const CallFate fate = gate.Enter(name, false);
  if (fate == CallFate::kUnavailable) return Unavailable(name);
  if (fate == CallFate::kBroken) return Broken(name);
  if (fate == CallFate::kLostBefore) return Unknown(name);
  auto result = call();
  if (!gate.Leave()) return Unavailable(name);
  if (fate == CallFate::kLostAfter) return Unknown(name);
  return result;
}

template <typename Call>
auto RunFenced(CallGate& gate, std::string_view name, const Fence& fence, Call call)
    -> decltype(call()) {
  const CallFate fate = gate.Enter(name, true);
  if (fate == CallFate::kUnavailable) return Unavailable(name);
  if (fate == CallFate::kBroken) return Broken(name);
  if (fate == CallFate::kLostBefore) return Unknown(name);
  const auto write = [&gate, name, fence, call] {
    auto result = call();
    if (result.ok()) gate.Wrote(name, fence);
    return result;
  };
  if (fate == CallFate::kLandsLater) {
    gate.Later([write] { static_cast<void>(write()); });
    return Unknown(name);
  }
  auto result = write();
  if (!gate.Leave()) return Unavailable(name);
  if (fate == CallFate::kLostAfter) return Unknown(name);
  return result;
}

}  // namespace

// ---- IdentityStore -----------------------------------------------------------------------------

Result<StoreIdentity> FaultIdentityStore::Identify() {
  return Run(gate_, "identify", [&] { return store_.Identify(); });
}
Result<uint64_t> FaultIdentityStore::AdvanceMark(const StoreIdentity& seen) {
  return Run(gate_, "mark", [&] { return store_.AdvanceMark(seen); });
}
Result<uint64_t> FaultIdentityStore::Accept(const StoreIdentity& seen, Epoch above) {
  return Run(gate_, "accept", [&] { return store_.Accept(seen, above); });
}

// ---- SegmentStore ------------------------------------------------------------------------------

Result<WallTime> FaultSegmentStore::Now() {
  return Run(gate_, "now", [&] { return store_.Now(); });
}
Result<TakenSegments> FaultSegmentStore::Take(const TakeRequest& request) {
  return Run(gate_, "take", [&] {
    auto taken = store_.Take(request);
    if (taken.ok()) gate_.Taken(taken->fence);
    return taken;
  });
}
Status FaultSegmentStore::Release(const Fence& fence) {
  return Run(gate_, "release", [&] { return store_.Release(fence); });
}
Result<std::vector<SegmentRecord>> FaultSegmentStore::ReadEpochs(
    const std::vector<SegmentId>& segments) {
  return Run(gate_, "read_epochs", [&] { return store_.ReadEpochs(segments); });
}
Result<std::vector<SegmentRecord>> FaultSegmentStore::ListSegments() {
  return Run(gate_, "list_segments", [&] { return store_.ListSegments(); });
}

// ---- FiringStore -------------------------------------------------------------------------------

Result<std::vector<DueSchedule>> FaultFiringStore::ScanDue(const std::vector<SegmentId>& segments,
                                                           WallTime until, size_t limit) {
  return Run(gate_, "scan_due", [&] { return store_.ScanDue(segments, until, limit); });
}
Result<std::vector<DueSchedule>> FaultFiringStore::ScanOutdated(
    const std::vector<SegmentId>& segments, const std::vector<CalendarAt>& calendars,
    size_t limit) {
  return Run(gate_, "scan_outdated",
             [&] { return store_.ScanOutdated(segments, calendars, limit); });
}
Status FaultFiringStore::Plan(const PlanBatch& batch, const Fence& fence, WallTime now) {
  return RunFenced(gate_, "plan", fence,
                   [&store = store_, batch, fence, now] { return store.Plan(batch, fence, now); });
}
Result<PendingPage> FaultFiringStore::ScanPending(const std::vector<SegmentId>& segments,
                                                  WallTime until,
                                                  std::optional<std::pair<WallTime, RunKey>> after,
                                                  size_t limit) {
  return Run(gate_, "scan_pending",
             [&] { return store_.ScanPending(segments, until, after, limit); });
}
Result<JobPendingPage> FaultFiringStore::ScanPendingOfJob(const JobWindow& window,
                                                          std::optional<RunKey> after,
                                                          size_t limit) {
  return Run(gate_, "scan_pending", [&] { return store_.ScanPendingOfJob(window, after, limit); });
}
Result<RunningPage> FaultFiringStore::ScanRunning(const std::vector<SegmentId>& segments,
                                                  std::optional<RunCursor> after, size_t limit) {
  return Run(gate_, "scan_running", [&] { return store_.ScanRunning(segments, after, limit); });
}
Result<RunningPage> FaultFiringStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                         std::optional<RunCursor> after,
                                                         size_t limit) {
  return Run(gate_, "scan_cancels",
             [&] { return store_.ScanCancelRequests(segments, after, limit); });
}
Result<std::vector<JobVersionRecord>> FaultFiringStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  return Run(gate_, "load_definitions", [&] { return store_.LoadDefinitions(keys); });
}
Result<RunRequest> FaultFiringStore::LoadRunRequest(const RunKey& key) {
  return Run(gate_, "load_run_request", [&] { return store_.LoadRunRequest(key); });
}
Result<std::vector<ClaimReply>> FaultFiringStore::Claim(const std::vector<ClaimRequest>& requests,
                                                        const Fence& fence, WallTime now) {
  return RunFenced(gate_, "claim", fence, [&gate = gate_, &store = store_, requests, fence, now] {
    auto replies = store.Claim(requests, fence, now);
    if (replies.ok()) gate.Answered(requests, *replies);
    return replies;
  });
}
Result<size_t> FaultFiringStore::Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                      WallTime now) {
  return RunFenced(gate_, "skip", fence,
                   [&store = store_, items, fence, now] { return store.Skip(items, fence, now); });
}
Result<std::vector<RunEffect>> FaultFiringStore::ApplyResults(
    const std::vector<ResultReport>& reports, const Fence& fence, WallTime now) {
  return RunFenced(gate_, "results", fence, [&store = store_, reports, fence, now] {
    return store.ApplyResults(reports, fence, now);
  });
}
Result<std::vector<RunEffect>> FaultFiringStore::MarkLost(const std::vector<LostReport>& reports,
                                                          const Fence& fence, WallTime now) {
  gate_.LosingBegins(reports);
  auto effects = RunFenced(gate_, "lost", fence, [&store = store_, reports, fence, now] {
    return store.MarkLost(reports, fence, now);
  });
  gate_.LosingEnded(reports, effects.ok());
  return effects;
}
Result<OverdueReport> FaultFiringStore::ReadOverdue(WallTime now) {
  return Run(gate_, "read_overdue", [&] { return store_.ReadOverdue(now); });
}

// ---- QueueStore --------------------------------------------------------------------------------

Result<std::vector<QueuedJob>> FaultQueueStore::ScanQueues(const std::vector<SegmentId>& segments,
                                                           JobNo after, size_t limit) {
  return Run(gate_, "scan_queues", [&] { return store_.ScanQueues(segments, after, limit); });
}
Result<AdmissionEffect> FaultQueueStore::Admit(const QueuedJob& job, const Fence& fence,
                                               WallTime now) {
  return RunFenced(gate_, "admit", fence,
                   [&store = store_, job, fence, now] { return store.Admit(job, fence, now); });
}
// The two scans of groups have no fault while they find nothing, so that they change nothing in a
// world without groups.
Result<std::vector<QueuedGroup>> FaultQueueStore::ScanGroups(const std::vector<SegmentId>& segments,
                                                             GroupNo after, size_t limit) {
  auto found = store_.ScanGroups(segments, after, limit);
  if (found.ok() && found->empty()) return found;
  return Run(gate_, "scan_groups", [&] { return store_.ScanGroups(segments, after, limit); });
}
Result<AdmissionEffect> FaultQueueStore::AdmitGroup(const QueuedGroup& group, const Fence& fence,
                                                    WallTime now) {
  return RunFenced(gate_, "admit_group", fence, [&store = store_, group, fence, now] {
    return store.AdmitGroup(group, fence, now);
  });
}
Result<std::vector<UnusedSlot>> FaultQueueStore::ScanUnusedSlots(
    const std::vector<SegmentId>& segments, WallTime now, size_t limit) {
  auto found = store_.ScanUnusedSlots(segments, now, limit);
  if (found.ok() && found->empty()) return found;
  return Run(gate_, "scan_unused", [&] { return store_.ScanUnusedSlots(segments, now, limit); });
}
Result<size_t> FaultQueueStore::ReclaimSlots(const std::vector<UnusedSlot>& slots,
                                             const Fence& fence, WallTime now) {
  return RunFenced(gate_, "reclaim_slots", fence, [&store = store_, slots, fence, now] {
    return store.ReclaimSlots(slots, fence, now);
  });
}
Result<std::vector<SkipItem>> FaultQueueStore::ScanExpired(const std::vector<SegmentId>& segments,
                                                           WallTime now, size_t limit) {
  return Run(gate_, "scan_expired", [&] { return store_.ScanExpired(segments, now, limit); });
}
Result<int64_t> FaultQueueStore::CountQueued() {
  return Run(gate_, "count_queued", [&] { return store_.CountQueued(); });
}
Result<JobQueue> FaultQueueStore::ReadQueue(const JobId& id, size_t limit) {
  return Run(gate_, "read_queue", [&] { return store_.ReadQueue(id, limit); });
}
Result<std::optional<QueuePlace>> FaultQueueStore::PlaceOf(const RunKey& key) {
  return Run(gate_, "place_of", [&] { return store_.PlaceOf(key); });
}

// ---- CompletionStore ---------------------------------------------------------------------------

Result<std::vector<RunCompletion>> FaultCompletionStore::ScanCompletions(
    const std::vector<SegmentId>& segments, size_t limit) {
  return store_.ScanCompletions(segments, limit);
}
Result<std::vector<CompletionEffect>> FaultCompletionStore::Apply(
    const std::vector<RunCompletion>& ends, const Fence& fence, WallTime now) {
  return RunFenced(gate_, "completions", fence,
                   [&store = store_, ends, fence, now] { return store.Apply(ends, fence, now); });
}
Result<std::vector<StuckSchedule>> FaultCompletionStore::ScanStuck(
    const std::vector<SegmentId>& segments, size_t limit) {
  return store_.ScanStuck(segments, limit);
}
Result<bool> FaultCompletionStore::Revive(const StuckSchedule& stuck, const Fence& fence,
                                          WallTime now) {
  return RunFenced(gate_, "revive", fence, [&store = store_, stuck, fence, now] {
    return store.Revive(stuck, fence, now);
  });
}

// ---- BackfillStore -----------------------------------------------------------------------------

Result<BackfillPreview> FaultBackfillStore::PreviewBackfill(const BackfillTerms& terms) {
  return store_.PreviewBackfill(terms);
}
Result<Backfill> FaultBackfillStore::CreateBackfill(
    const BackfillTerms& terms, const std::optional<KeyedAnswer<Backfill>>& keyed,
    const WriteContext& context) {
  return store_.CreateBackfill(terms, keyed, context);
}
Result<Backfill> FaultBackfillStore::GetBackfill(uint64_t number) {
  return store_.GetBackfill(number);
}
Result<std::vector<Backfill>> FaultBackfillStore::ListBackfills(const BackfillFilter& filter) {
  return store_.ListBackfills(filter);
}
Result<BoundedCount> FaultBackfillStore::CountBackfills(const BackfillFilter& filter) {
  return store_.CountBackfills(filter);
}
Result<Backfill> FaultBackfillStore::PauseBackfill(uint64_t number, const WriteContext& context) {
  return store_.PauseBackfill(number, context);
}
Result<Backfill> FaultBackfillStore::ResumeBackfill(uint64_t number, const WriteContext& context) {
  return store_.ResumeBackfill(number, context);
}
Result<Backfill> FaultBackfillStore::CancelBackfill(uint64_t number, const WriteContext& context) {
  return store_.CancelBackfill(number, context);
}
Result<std::vector<OpenBackfill>> FaultBackfillStore::ScanBackfills(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  return Run(gate_, "scan_backfills", [&] { return store_.ScanBackfills(segments, after, limit); });
}
Result<BackfillEffect> FaultBackfillStore::StepBackfill(const OpenBackfill& backfill,
                                                        const Fence& fence, WallTime now,
                                                        Duration retention) {
  return RunFenced(gate_, "backfill", fence, [&store = store_, backfill, fence, now, retention] {
    return store.StepBackfill(backfill, fence, now, retention);
  });
}

// ---- ExecutorStore -----------------------------------------------------------------------------

Result<ExecutorRecord> FaultExecutorStore::RegisterExecutor(const ExecutorRecord& record) {
  return Run(gate_, "register", [&] { return store_.RegisterExecutor(record); });
}
Status FaultExecutorStore::UpdateExecutors(const std::vector<ExecutorRecord>& records) {
  return Run(gate_, "update_executors", [&] { return store_.UpdateExecutors(records); });
}
Result<std::vector<ExecutorRecord>> FaultExecutorStore::ListExecutors() {
  return Run(gate_, "list_executors", [&] { return store_.ListExecutors(); });
}
Result<ExecutorRecord> FaultExecutorStore::GetExecutor(const ExecutorId& id) {
  return Run(gate_, "get_executor", [&] { return store_.GetExecutor(id); });
}
Result<ExecutorRecord> FaultExecutorStore::SetExecutorEnabled(const ExecutorId& id, bool enabled) {
  return Run(gate_, "enable", [&] { return store_.SetExecutorEnabled(id, enabled); });
}
Result<ExecutorRecord> FaultExecutorStore::SetExecutorDraining(const ExecutorId& id,
                                                               bool draining) {
  return Run(gate_, "drain", [&] { return store_.SetExecutorDraining(id, draining); });
}
Result<ExecutorRecord> FaultExecutorStore::SetExecutorLabels(const LabelEdit& edit) {
  return Run(gate_, "label", [&] { return store_.SetExecutorLabels(edit); });
}

// ---- SettingsStore -----------------------------------------------------------------------------

Result<ClusterSettings> FaultSettingsStore::ReadSettings() {
  return Run(gate_, "settings", [&] { return store_.ReadSettings(); });
}
Result<ClusterSettings> FaultSettingsStore::WriteSettings(int64_t expected,
                                                          const ClusterSettings& next,
                                                          Duration paused) {
  return Run(gate_, "settings", [&] { return store_.WriteSettings(expected, next, paused); });
}

// ---- CalendarStore -----------------------------------------------------------------------------

Result<StoredCalendar> FaultCalendarStore::PutCalendar(const std::string& name,
                                                       const CalendarDefinition& definition,
                                                       WallTime now) {
  return Run(gate_, "put_calendar", [&] { return store_.PutCalendar(name, definition, now); });
}
Status FaultCalendarStore::DeleteCalendar(const std::string& name, WallTime now) {
  return Run(gate_, "delete_calendar", [&] { return store_.DeleteCalendar(name, now); });
}
Result<int64_t> FaultCalendarStore::ReadCalendarVersion() {
  if (IsEmpty()) return store_.ReadCalendarVersion();
  return Run(gate_, "calendar_version", [&] { return store_.ReadCalendarVersion(); });
}
Result<CalendarSet> FaultCalendarStore::LoadCalendars() {
  if (IsEmpty()) return store_.LoadCalendars();
  return Run(gate_, "load_calendars", [&] { return store_.LoadCalendars(); });
}
Result<std::map<CalendarNo, int64_t>> FaultCalendarStore::CountCalendarJobs() {
  return store_.CountCalendarJobs();
}

// ---- WorkflowStore -----------------------------------------------------------------------------

Result<BeginReply> FaultWorkflowStore::Begin(const ClaimRequest& request, const Fence& fence,
                                             WallTime now) {
  return Run(gate_, "begin", [&] { return store_.Begin(request, fence, now); });
}
// Simulations without workflows take the course that they took before there were any.
Result<std::vector<WakeUp>> FaultWorkflowStore::ScanWakeUps(const std::vector<SegmentId>& segments,
                                                            size_t limit) {
  auto found = store_.ScanWakeUps(segments, limit);
  if (found.ok() && found->empty()) return found;
  return Run(gate_, "scan_wake_ups", [&] { return found; });
}
Result<std::vector<OpenWorkflowRun>> FaultWorkflowStore::ScanOpen(
    const std::vector<SegmentId>& segments, uint64_t after, size_t limit) {
  auto found = store_.ScanOpen(segments, after, limit);
  if (found.ok() && found->empty()) return found;
  return Run(gate_, "scan_open_workflows", [&] { return found; });
}
Result<StepEffect> FaultWorkflowStore::Step(const StepRequest& request, const Fence& fence,
                                            WallTime now) {
  return Run(gate_, "step", [&] { return store_.Step(request, fence, now); });
}

// ---- Housekeeping ------------------------------------------------------------------------------

Result<Upkeep> FaultHousekeeping::Maintain(WallTime now, Duration retention) {
  return Run(gate_, "maintain", [&] { return store_.Maintain(now, retention); });
}

}  // namespace carillon::test
