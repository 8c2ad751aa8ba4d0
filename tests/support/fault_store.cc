#include "tests/support/fault_store.h"

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

}  // namespace

template <typename Call>
auto FaultStore::Run(std::string_view name, Call call) -> decltype(call()) {
  const CallFate fate = p_.gate.Enter(name, false);
  if (fate == CallFate::kUnavailable) return Unavailable(name);
  if (fate == CallFate::kBroken) return Broken(name);
  if (fate == CallFate::kLostBefore) return Unknown(name);
  auto result = call();
  if (!p_.gate.Leave()) return Unavailable(name);
  if (fate == CallFate::kLostAfter) return Unknown(name);
  return result;
}

template <typename Call>
auto FaultStore::RunFenced(std::string_view name, const Fence& fence, Call call)
    -> decltype(call()) {
  const CallFate fate = p_.gate.Enter(name, true);
  if (fate == CallFate::kUnavailable) return Unavailable(name);
  if (fate == CallFate::kBroken) return Broken(name);
  if (fate == CallFate::kLostBefore) return Unknown(name);
  const auto write = [&gate = p_.gate, name, fence, call] {
    auto result = call();
    if (result.ok()) gate.Wrote(name, fence);
    return result;
  };
  if (fate == CallFate::kLandsLater) {
    p_.gate.Later([write] { static_cast<void>(write()); });
    return Unknown(name);
  }
  auto result = write();
  if (!p_.gate.Leave()) return Unavailable(name);
  if (fate == CallFate::kLostAfter) return Unknown(name);
  return result;
}

// ---- IdentityStore -----------------------------------------------------------------------------

Result<StoreIdentity> FaultStore::Identify() {
  return Run("identify", [&] { return p_.identity.Identify(); });
}
Result<uint64_t> FaultStore::AdvanceMark(const StoreIdentity& seen) {
  return Run("mark", [&] { return p_.identity.AdvanceMark(seen); });
}
Result<uint64_t> FaultStore::Accept(const StoreIdentity& seen, Epoch above) {
  return Run("accept", [&] { return p_.identity.Accept(seen, above); });
}

// ---- SegmentStore ------------------------------------------------------------------------------

Result<WallTime> FaultStore::Now() {
  return Run("now", [&] { return p_.segments.Now(); });
}
Result<TakenSegments> FaultStore::Take(const TakeRequest& request) {
  return Run("take", [&] {
    auto taken = p_.segments.Take(request);
    if (taken.ok()) p_.gate.Taken(taken->fence);
    return taken;
  });
}
Status FaultStore::Release(const Fence& fence) {
  return Run("release", [&] { return p_.segments.Release(fence); });
}
Result<std::vector<SegmentRecord>> FaultStore::ReadEpochs(const std::vector<SegmentId>& segments) {
  return Run("read_epochs", [&] { return p_.segments.ReadEpochs(segments); });
}
Result<std::vector<SegmentRecord>> FaultStore::ListSegments() {
  return Run("list_segments", [&] { return p_.segments.ListSegments(); });
}

// ---- FiringStore -------------------------------------------------------------------------------

Result<std::vector<DueSchedule>> FaultStore::ScanDue(const std::vector<SegmentId>& segments,
                                                     WallTime until, size_t limit) {
  return Run("scan_due", [&] { return p_.firing.ScanDue(segments, until, limit); });
}
Status FaultStore::Plan(const PlanBatch& batch, const Fence& fence, WallTime now) {
  return RunFenced("plan", fence, [&firing = p_.firing, batch, fence, now] {
    return firing.Plan(batch, fence, now);
  });
}
Result<PendingPage> FaultStore::ScanPending(const std::vector<SegmentId>& segments, WallTime until,
                                            std::optional<std::pair<WallTime, RunKey>> after,
                                            size_t limit) {
  return Run("scan_pending", [&] { return p_.firing.ScanPending(segments, until, after, limit); });
}
Result<JobPendingPage> FaultStore::ScanPendingOfJob(const JobWindow& window,
                                                    std::optional<RunKey> after, size_t limit) {
  return Run("scan_pending", [&] { return p_.firing.ScanPendingOfJob(window, after, limit); });
}
Result<RunningPage> FaultStore::ScanRunning(const std::vector<SegmentId>& segments,
                                            std::optional<RunCursor> after, size_t limit) {
  return Run("scan_running", [&] { return p_.firing.ScanRunning(segments, after, limit); });
}
Result<RunningPage> FaultStore::ScanCancelRequests(const std::vector<SegmentId>& segments,
                                                   std::optional<RunCursor> after, size_t limit) {
  return Run("scan_cancels", [&] { return p_.firing.ScanCancelRequests(segments, after, limit); });
}
Result<std::vector<JobVersionRecord>> FaultStore::LoadDefinitions(
    const std::vector<JobVersionKey>& keys) {
  return Run("load_definitions", [&] { return p_.firing.LoadDefinitions(keys); });
}
Result<RunRequest> FaultStore::LoadRunRequest(const RunKey& key) {
  return Run("load_run_request", [&] { return p_.firing.LoadRunRequest(key); });
}
Result<std::vector<ClaimReply>> FaultStore::Claim(const std::vector<ClaimRequest>& requests,
                                                  const Fence& fence, WallTime now) {
  return RunFenced("claim", fence, [&gate = p_.gate, &firing = p_.firing, requests, fence, now] {
    auto replies = firing.Claim(requests, fence, now);
    if (replies.ok()) gate.Answered(requests, *replies);
    return replies;
  });
}
Result<size_t> FaultStore::Skip(const std::vector<SkipItem>& items, const Fence& fence,
                                WallTime now) {
  return RunFenced("skip", fence, [&firing = p_.firing, items, fence, now] {
    return firing.Skip(items, fence, now);
  });
}
Result<std::vector<RunEffect>> FaultStore::ApplyResults(const std::vector<ResultReport>& reports,
                                                        const Fence& fence, WallTime now) {
  return RunFenced("results", fence, [&firing = p_.firing, reports, fence, now] {
    return firing.ApplyResults(reports, fence, now);
  });
}
Result<std::vector<RunEffect>> FaultStore::MarkLost(const std::vector<LostReport>& reports,
                                                    const Fence& fence, WallTime now) {
  p_.gate.LosingBegins(reports);
  auto effects = RunFenced("lost", fence, [&firing = p_.firing, reports, fence, now] {
    return firing.MarkLost(reports, fence, now);
  });
  p_.gate.LosingEnded(reports, effects.ok());
  return effects;
}
Result<OverdueReport> FaultStore::ReadOverdue(WallTime now) {
  return Run("read_overdue", [&] { return p_.firing.ReadOverdue(now); });
}

// ---- ExecutorStore -----------------------------------------------------------------------------

Result<ExecutorRecord> FaultStore::RegisterExecutor(const ExecutorRecord& record) {
  return Run("register", [&] { return p_.executors.RegisterExecutor(record); });
}
Status FaultStore::UpdateExecutors(const std::vector<ExecutorRecord>& records) {
  return Run("update_executors", [&] { return p_.executors.UpdateExecutors(records); });
}
Result<std::vector<ExecutorRecord>> FaultStore::ListExecutors() {
  return Run("list_executors", [&] { return p_.executors.ListExecutors(); });
}
Result<ExecutorRecord> FaultStore::GetExecutor(const ExecutorId& id) {
  return Run("get_executor", [&] { return p_.executors.GetExecutor(id); });
}
Result<ExecutorRecord> FaultStore::SetExecutorEnabled(const ExecutorId& id, bool enabled) {
  return Run("enable", [&] { return p_.executors.SetExecutorEnabled(id, enabled); });
}
Result<ExecutorRecord> FaultStore::SetExecutorDraining(const ExecutorId& id, bool draining) {
  return Run("drain", [&] { return p_.executors.SetExecutorDraining(id, draining); });
}
Result<ExecutorRecord> FaultStore::SetExecutorLabels(const LabelEdit& edit) {
  return Run("label", [&] { return p_.executors.SetExecutorLabels(edit); });
}

// ---- SettingsStore -----------------------------------------------------------------------------

Result<ClusterSettings> FaultStore::ReadSettings() {
  return Run("settings", [&] { return p_.settings.ReadSettings(); });
}
Result<ClusterSettings> FaultStore::WriteSettings(int64_t expected, const ClusterSettings& next) {
  return Run("settings", [&] { return p_.settings.WriteSettings(expected, next); });
}

// ---- Housekeeping ------------------------------------------------------------------------------

Result<Upkeep> FaultStore::Maintain(WallTime now, Duration retention) {
  return Run("maintain", [&] { return p_.housekeeping.Maintain(now, retention); });
}

}  // namespace carillon::test
