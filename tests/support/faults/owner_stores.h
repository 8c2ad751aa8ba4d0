// The other store ports of a member whose calls go through a CallGate.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/ports/store/backfill_store.h"
#include "common/ports/store/calendar_store.h"
#include "common/ports/store/checkpoint_store.h"
#include "common/ports/store/completion_store.h"
#include "common/ports/store/executor_store.h"
#include "common/ports/store/housekeeping.h"
#include "common/ports/store/identity_store.h"
#include "common/ports/store/notice_store.h"
#include "common/ports/store/settings_store.h"
#include "common/ports/store/workflow_store.h"
#include "tests/support/faults/fault_store.h"

namespace carillon::test {

class FaultIdentityStore : public FaultStore<IdentityStore> {
 public:
  using FaultStore::FaultStore;
  Result<StoreIdentity> Identify() override { return Call("Identify", &IdentityStore::Identify); }
  Result<uint64_t> AdvanceMark(const StoreIdentity& seen) override {
    return Call("AdvanceMark", &IdentityStore::AdvanceMark, seen);
  }
  Result<uint64_t> Accept(const StoreIdentity& seen, Epoch above) override {
    return Call("Accept", &IdentityStore::Accept, seen, above);
  }
  void Forget() override { store_.Forget(); }
};

class FaultCompletionStore : public FaultStore<CompletionStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<RunCompletion>> ScanCompletions(const std::vector<SegmentId>& segments,
                                                     size_t limit) override {
    return Scan("ScanCompletions", &CompletionStore::ScanCompletions, segments, limit);
  }
  Result<std::vector<CompletionEffect>> Apply(const std::vector<RunCompletion>& ends,
                                              const Fence& fence, WallTime now) override {
    return Write("Apply", &CompletionStore::Apply, ends, fence, now);
  }
  Result<std::vector<FireEffect>> EndFires(const std::vector<FireLook>& fires, const Fence& fence,
                                           WallTime now) override {
    return Write("EndFires", &CompletionStore::EndFires, fires, fence, now);
  }
  Result<std::vector<FireLook>> ScanUnended(const std::vector<SegmentId>& segments, WallTime due,
                                            size_t limit) override {
    return Scan("ScanUnended", &CompletionStore::ScanUnended, segments, due, limit);
  }
  Result<std::vector<StuckSchedule>> ScanStuck(const std::vector<SegmentId>& segments,
                                               size_t limit) override {
    return Scan("ScanStuck", &CompletionStore::ScanStuck, segments, limit);
  }
  Result<bool> Revive(const StuckSchedule& stuck, const Fence& fence, WallTime now) override {
    return Write("Revive", &CompletionStore::Revive, stuck, fence, now);
  }
};

class FaultWorkflowStore : public FaultStore<WorkflowStore> {
 public:
  using FaultStore::FaultStore;
  Result<BeginReply> Begin(const ClaimRequest& request, const Fence& fence, WallTime now) override {
    return Call("Begin", &WorkflowStore::Begin, request, fence, now);
  }
  Result<PartsReply> BeginParts(const PartsRequest& request, const Fence& fence,
                                WallTime now) override {
    return Write("BeginParts", &WorkflowStore::BeginParts, request, fence, now);
  }
  Result<std::vector<WakeUp>> ScanWakeUps(const std::vector<SegmentId>& segments,
                                          size_t limit) override {
    return Scan("ScanWakeUps", &WorkflowStore::ScanWakeUps, segments, limit);
  }
  Result<std::vector<OpenWorkflowRun>> ScanOpen(const std::vector<SegmentId>& segments,
                                                uint64_t after, size_t limit) override {
    return Scan("ScanOpen", &WorkflowStore::ScanOpen, segments, after, limit);
  }
  Result<std::vector<StepEffect>> Step(const std::vector<StepRequest>& requests, const Fence& fence,
                                       WallTime now) override {
    return Call("Step", &WorkflowStore::Step, requests, fence, now);
  }
  Result<WorkflowRunView> GetWorkflowRun(const RunKey& key) override {
    return Call("GetWorkflowRun", &WorkflowStore::GetWorkflowRun, key);
  }
  Result<WorkflowRunView> SkipNode(const SkipNodeRequest& request,
                                   const WriteContext& context) override {
    return Call("SkipNode", &WorkflowStore::SkipNode, request, context);
  }
  Result<WorkflowRunView> DecideNode(const DecideNodeRequest& request,
                                     const WriteContext& context) override {
    return Call("DecideNode", &WorkflowStore::DecideNode, request, context);
  }
  Result<RetryPlan> PreviewRetry(const RunKey& key, const WorkflowRetry& retry) override {
    return Call("PreviewRetry", &WorkflowStore::PreviewRetry, key, retry);
  }
};

class FaultCalendarStore : public FaultStore<CalendarStore> {
 public:
  using FaultStore::FaultStore;
  Result<StoredCalendar> PutCalendar(const std::string& name, const CalendarDefinition& definition,
                                     WallTime now) override {
    return Call("PutCalendar", &CalendarStore::PutCalendar, name, definition, now);
  }
  Status DeleteCalendar(const std::string& name, WallTime now) override {
    return Call("DeleteCalendar", &CalendarStore::DeleteCalendar, name, now);
  }
  Result<int64_t> ReadCalendarVersion() override {
    return IsExempt("ReadCalendarVersion")
               ? store_.ReadCalendarVersion()
               : Call("ReadCalendarVersion", &CalendarStore::ReadCalendarVersion);
  }
  Result<CalendarSet> LoadCalendars() override {
    return IsExempt("LoadCalendars") ? store_.LoadCalendars()
                                     : Call("LoadCalendars", &CalendarStore::LoadCalendars);
  }
  Result<std::map<CalendarNo, int64_t>> CountCalendarJobs() override {
    return Call("CountCalendarJobs", &CalendarStore::CountCalendarJobs);
  }

 private:
  bool IsExempt(std::string_view call) {
    return gate_.IsExempt(call, store_.ReadCalendarVersion().value_or(1) == 0);
  }
};

class FaultCheckpointStore : public FaultStore<CheckpointStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<SaveVerdict>> Save(const std::vector<RunSave>& saves, const Fence& fence,
                                        WallTime now) override {
    return Write("Save", &CheckpointStore::Save, saves, fence, now);
  }
  Result<std::set<RunKey>> WithCheckpoint(const std::vector<RunKey>& keys) override {
    return Call("WithCheckpoint", &CheckpointStore::WithCheckpoint, keys);
  }
  Result<std::optional<std::string>> ReadCheckpoint(const RunKey& key) override {
    return Call("ReadCheckpoint", &CheckpointStore::ReadCheckpoint, key);
  }
};

class FaultExecutorStore : public FaultStore<ExecutorStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<ExecutorRecord>> RegisterExecutors(
      const std::vector<ExecutorRecord>& records) override {
    return Call("RegisterExecutors", &ExecutorStore::RegisterExecutors, records);
  }
  Status UpdateExecutors(const std::vector<ExecutorRecord>& records) override {
    return Call("UpdateExecutors", &ExecutorStore::UpdateExecutors, records);
  }
  Status UpdateAbilities(const std::vector<ExecutorRecord>& records) override {
    return Call("UpdateAbilities", &ExecutorStore::UpdateAbilities, records);
  }
  Result<std::vector<ExecutorRecord>> ListExecutors() override {
    return Call("ListExecutors", &ExecutorStore::ListExecutors);
  }
  Result<ExecutorRecord> GetExecutor(const ExecutorId& id) override {
    return Call("GetExecutor", &ExecutorStore::GetExecutor, id);
  }
  Result<ExecutorRecord> SetExecutorEnabled(const ExecutorId& id, bool enabled) override {
    return Call("SetExecutorEnabled", &ExecutorStore::SetExecutorEnabled, id, enabled);
  }
  Result<ExecutorRecord> SetExecutorDraining(const ExecutorId& id, bool draining) override {
    return Call("SetExecutorDraining", &ExecutorStore::SetExecutorDraining, id, draining);
  }
  Result<ExecutorRecord> SetExecutorLabels(const LabelEdit& edit) override {
    return Call("SetExecutorLabels", &ExecutorStore::SetExecutorLabels, edit);
  }
};

class FaultSettingsStore : public FaultStore<SettingsStore> {
 public:
  using FaultStore::FaultStore;
  Result<ClusterSettings> ReadSettings() override {
    return Call("ReadSettings", &SettingsStore::ReadSettings);
  }
  Result<ClusterSettings> WriteSettings(int64_t expected, const ClusterSettings& next,
                                        Duration paused) override {
    return Call("WriteSettings", &SettingsStore::WriteSettings, expected, next, paused);
  }
};

class FaultHousekeeping : public FaultStore<Housekeeping> {
 public:
  using FaultStore::FaultStore;
  Result<Upkeep> Maintain(WallTime now, const Retention& retention) override {
    return Call("Maintain", &Housekeeping::Maintain, now, retention);
  }
};

class FaultNoticeStore : public FaultStore<NoticeStore> {
 public:
  using FaultStore::FaultStore;
  Result<std::vector<OpenNotice>> ScanNotices(const std::vector<SegmentId>& segments,
                                              size_t limit) override {
    return Call("ScanNotices", &NoticeStore::ScanNotices, segments, limit);
  }
  Result<std::optional<RunDetail>> FindRun(const Notice& notice) override {
    return Call("FindRun", &NoticeStore::FindRun, notice);
  }
  Status DecideNotices(const std::vector<NoticeDecision>& decisions, const Fence& fence,
                       WallTime now) override {
    return Write("DecideNotices", &NoticeStore::DecideNotices, decisions, fence, now);
  }
  Status AddNotices(const std::vector<Notice>& notices, const Fence& fence) override {
    return Write("AddNotices", &NoticeStore::AddNotices, notices, fence);
  }
  Result<RecoveryPage> ScanRecoveries(const std::vector<SegmentId>& segments,
                                      std::optional<JobNo> after, WallTime now,
                                      size_t limit) override {
    return Call("ScanRecoveries", &NoticeStore::ScanRecoveries, segments, after, now, limit);
  }
  Result<std::vector<Delivery>> ScanDeliveries(const std::vector<SegmentId>& segments,
                                               const std::vector<DeliveryChannel>& channels,
                                               WallTime now, size_t limit) override {
    return Call("ScanDeliveries", &NoticeStore::ScanDeliveries, segments, channels, now, limit);
  }
  Status RecordDelivery(const DeliveryOutcome& outcome, const Fence& fence, WallTime now) override {
    return Write("RecordDelivery", &NoticeStore::RecordDelivery, outcome, fence, now);
  }
  Result<DeliveryBacklog> ReadBacklog(const std::vector<SegmentId>& segments) override {
    return Call("ReadBacklog", &NoticeStore::ReadBacklog, segments);
  }
  Result<std::vector<Delivery>> ListDeliveries(const DeliveryFilter& filter) override {
    return Call("ListDeliveries", &NoticeStore::ListDeliveries, filter);
  }
  Result<BoundedCount> CountDeliveries(const DeliveryFilter& filter) override {
    return Call("CountDeliveries", &NoticeStore::CountDeliveries, filter);
  }
  Result<Delivery> ResendDelivery(uint64_t id, WallTime now) override {
    return Call("ResendDelivery", &NoticeStore::ResendDelivery, id, now);
  }
};

}  // namespace carillon::test
