#include "tests/twins/memory_tables.h"

#include <string>
#include <utility>

#include "common/base/check.h"
#include "common/base/failpoint.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/run/run_kind.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::memory {
namespace {

bool CountsAsActive(const RunRow& row, bool was_active) {
  if (IsFinal(row.state) || !CountsForJob(row.kind)) return false;
  return row.state != RunState::kPending || was_active;
}

// A retry of a workflow skips a node by hand that was skipped before.
bool IsSkippedAgain(const RunEntry& before, const RunEntry& after) {
  return after.row.state == RunState::kSkipped && before.row.state == RunState::kSkipped &&
         after.result.ended != before.result.ended;
}

}  // namespace

MemoryTables::MemoryTables(StoreIdentity id, bool numbers_in_blocks)
    : identity(std::move(id)),
      segments(identity.segment_count),
      job_numbers(numbers_in_blocks),
      schedule_numbers(numbers_in_blocks),
      group_numbers(numbers_in_blocks),
      workflow_run_numbers(numbers_in_blocks),
      pending_(identity.segment_count),
      due_(identity.segment_count),
      running_(identity.segment_count),
      cancels_(identity.segment_count),
      presumed_(identity.segment_count) {
  CARILLON_CHECK(identity.segment_count > 0, "a store has at least one segment");
  for (uint32_t i = 0; i < identity.segment_count; ++i) {
    segments[i] = {.segment = SegmentId(i), .released = true};
  }
}

const RunEntry* MemoryTables::FindRun(const RunKey& key) const {
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : &found->second;
}

void MemoryTables::PutRun(RunEntry entry) {
  const RunKey key = entry.row.key;
  entry.row.may_still_run = MayStillRun(entry.row.state, entry.result.reason);
  if (IsFinal(entry.row.state)) entry.row.group = {};
  const auto found = runs_.find(key);
  const bool ends =
      IsFinal(entry.row.state) && found != runs_.end() &&
      (found->second.row.state != entry.row.state || IsSkippedAgain(found->second, entry));
  if (ends && IsAwaited(entry.row)) AddCompletion(entry);
  std::optional<RunRow> before;
  if (found != runs_.end()) {
    before = found->second.row;
    Unindex(*before);
    if (before->group != entry.row.group) LeaveGroupSlot(*before);
    found->second = std::move(entry);
  } else {
    runs_.emplace(key, std::move(entry));
  }
  const RunRow& after = runs_.at(key).row;
  Index(after);
  if (observer_) observer_(before ? &*before : nullptr, &after);
}

void MemoryTables::AddCompletion(const RunEntry& entry) {
  const RunRow& row = entry.row;
  for (const CompletionTarget target : TargetsOf(row)) {
    SegmentId segment = row.segment;
    if (target == CompletionTarget::kWorkflow) {
      const WorkflowEntry* workflow = WorkflowOfNode(row.key);
      if (workflow == nullptr) continue;
      segment = workflow->segment;
    }
    const uint64_t id = ++last_completion_id;
    completions[id] = {.id = id,
                       .segment = segment,
                       .key = row.key,
                       .job_no = row.job_no,
                       .state = row.state,
                       .ended = EndOf(row, entry.result.ended),
                       .target = target,
                       .by_hand = ByHandFlag(row.kind, row.flags) != 0};
    if (end_observer_) end_observer_(completions.at(id));
  }
}

WorkflowEntry* MemoryTables::FindWorkflow(const RunKey& own) {
  const auto number = workflow_numbers.find(own);
  return number == workflow_numbers.end() ? nullptr : &workflow_runs.at(number->second);
}

WorkflowEntry* MemoryTables::WorkflowOfNode(const RunKey& node) {
  const auto place = NodePlaceOf(node);
  if (!place) return nullptr;
  const auto found = workflow_runs.find(place->workflow_run_no);
  return found == workflow_runs.end() || found->second.run.fire != node.fire ? nullptr
                                                                             : &found->second;
}

void MemoryTables::WakeUpWorkflow(const WorkflowEntry& workflow, WallTime now) {
  const NodePlace any{.workflow_run_no = workflow.run.no};
  const uint64_t id = ++last_completion_id;
  completions[id] = {.id = id,
                     .segment = workflow.segment,
                     .key = NodeKey(workflow.run.fire, any).value(),
                     .job_no = workflow.job_no,
                     .state = RunState::kPending,
                     .ended = now,
                     .target = CompletionTarget::kWorkflow};
}

void MemoryTables::EraseRun(const RunKey& key) {
  const auto found = runs_.find(key);
  if (found == runs_.end()) return;
  const RunRow before = found->second.row;
  Unindex(before);
  LeaveGroupSlot(before);
  jobs_.at(before.job_no).open.erase(key);
  jobs_.at(before.job_no).FreeSlot(key);
  jobs_.at(before.job_no).queue.erase(key);
  LeaveGroupQueue(key);
  saved.erase(key);
  runs_.erase(found);
  if (observer_) observer_(&before, nullptr);
}

void MemoryTables::Unindex(const RunRow& row) {
  const size_t segment = row.segment.value();
  pending_[segment].erase({row.due, row.key});
  running_[segment].erase(row.key);
  cancels_[segment].erase(row.key);
  presumed_[segment].erase(row.key);
  if (row.state == RunState::kHeld) --held_;
}

void MemoryTables::LeaveGroupSlot(const RunRow& row) {
  if (GroupEntry* group = FindGroup(row.group)) group->holders.erase(row.key);
}

void MemoryTables::Index(const RunRow& row) {
  const size_t segment = row.segment.value();
  if (row.state == RunState::kPending) pending_[segment].insert({row.due, row.key});
  const bool held = row.state == RunState::kHeld;
  const bool running = row.state == RunState::kRunning;
  if (running) running_[segment].insert(row.key);
  if (held) ++held_;
  if (row.cancel_requested && (running || held)) cancels_[segment].insert(row.key);
  if (PresumedDeadAt(row)) presumed_[segment].insert(row.key);
  JobEntry& job = jobs_.at(row.job_no);
  if (IsFinal(row.state)) {
    job.open.erase(row.key);
  } else {
    job.open.insert(row.key);
  }
  const bool queued = row.state == RunState::kPending && row.due == kQueued;
  if (!queued && !failpoint::Broken("wait.delete")) {
    job.queue.erase(row.key);
    LeaveGroupQueue(row.key);
  }
  GroupEntry* const awaited = WaitsForGroup(row.key);
  if (queued && awaited != nullptr) {  // its priority may have changed
    const QueueEntry entry = awaited->queue.at(group_waits_.at(row.key).second);
    QueueForGroup(*awaited, row, entry);
  }
  if (CountsAsActive(row, job.active.contains(row.key))) {
    job.active.insert(row.key);
  } else {
    job.FreeSlot(row.key);
  }
}

GroupEntry* MemoryTables::FindGroup(GroupNo group_no) {
  if (group_no == GroupNo{}) return nullptr;
  for (auto& [name, group] : groups) {
    if (group.group_no == group_no) return &group;
  }
  return nullptr;
}

void MemoryTables::QueueForGroup(GroupEntry& group, const RunRow& row, const QueueEntry& entry) {
  LeaveGroupQueue(row.key);
  const GroupPlace place = PlaceInGroup(row);
  group.queue[place] = entry;
  group_waits_[row.key] = {group.group_no, place};
}

GroupEntry* MemoryTables::WaitsForGroup(const RunKey& key) {
  const auto found = group_waits_.find(key);
  return found == group_waits_.end() ? nullptr : FindGroup(found->second.first);
}

void MemoryTables::LeaveGroupQueue(const RunKey& key) {
  const auto found = group_waits_.find(key);
  if (found == group_waits_.end()) return;
  if (GroupEntry* group = FindGroup(found->second.first)) group->queue.erase(found->second.second);
  group_waits_.erase(found);
}

Status MemoryTables::CheckUnsettled(const std::string& scope, const std::string& key) const {
  const auto begun = requests.find({scope, key});
  if (begun != requests.end() && !begun->second.answer) return {};
  return {ErrorCode::kConflict, "the request with this key was finished meanwhile"};
}

const ScheduleEntry* MemoryTables::FindSchedule(ScheduleId id) const {
  const auto found = schedules_.find(id);
  return found == schedules_.end() ? nullptr : &found->second;
}

void MemoryTables::PutSchedule(ScheduleEntry entry) {
  DueIndex& due = due_[entry.segment.value()];
  const auto found = schedules_.find(entry.id);
  if (found != schedules_.end()) due.erase({found->second.next_fire, entry.id});
  if (entry.active && entry.next_fire != kNever) due.insert({entry.next_fire, entry.id});
  schedules_[entry.id] = std::move(entry);
}

const CalendarSet& MemoryTables::Calendars() {
  const int64_t version = calendars.empty() ? 0 : calendars.rbegin()->first;
  if (calendar_set_.version() == version) return calendar_set_;
  std::map<CalendarNo, StoredCalendar> newest;
  std::vector<CalendarChange> changes;
  for (const auto& [number, entry] : calendars) {
    changes.push_back({entry.number, number, entry.effective});
    newest[entry.number] = {.number = entry.number,
                            .name = entry.name,
                            .version = number,
                            .effective = entry.effective,
                            .definition = entry.definition};
    if (entry.deleted) newest.erase(entry.number);
  }
  std::vector<StoredCalendar> present;
  for (auto& [number, calendar] : newest) present.push_back(std::move(calendar));
  return calendar_set_ = CalendarSet(version, std::move(present), std::move(changes));
}

JobEntry* MemoryTables::FindJob(JobNo job_no) {
  const auto found = jobs_.find(job_no);
  return found == jobs_.end() ? nullptr : &found->second;
}

JobEntry* MemoryTables::FindJob(const JobId& id) {
  const auto found = job_ids_.find(id);
  return found == job_ids_.end() ? nullptr : FindJob(found->second);
}

JobEntry& MemoryTables::AddJob(JobEntry entry) {
  if (!entry.hidden) job_ids_[entry.id] = entry.job_no;
  const JobNo job_no = entry.job_no;
  return jobs_[job_no] = std::move(entry);
}

const JobEntry& MemoryTables::OwnerOf(JobNo job_no) { return jobs_.at(carillon::OwnerOf(job_no)); }

Result<JobEntry*> MemoryTables::FindLiveJob(const JobId& id) {
  JobEntry* job = FindJob(id);
  if (job == nullptr || job->deleted) return {ErrorCode::kNotFound, "no job " + id.value()};
  return job;
}

Result<JobEntry*> MemoryTables::FindReadableJob(const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(JobEntry * job, FindLiveJob(id));
  if (IsReadable(*job)) return job;
  return {ErrorCode::kCorrupt, UnreadableSentence(id, job->version, "it was damaged")};
}

Status MemoryTables::CheckFence(const Fence& fence) const {
  for (const FencedSegment& held : fence) {
    if (!HasSegment(held.segment)) {
      return {ErrorCode::kBrokenStore, "fence: no segment " + std::to_string(held.segment.value())};
    }
    const SegmentRecord& record = segments[held.segment.value()];
    if (record.epoch != held.epoch && !failpoint::Broken("fence")) {
      return {ErrorCode::kFenced, "segment " + std::to_string(held.segment.value()) +
                                      ": held by epoch " + std::to_string(record.epoch.value()) +
                                      ", ours was " + std::to_string(held.epoch.value())};
    }
  }
  return {};
}

}  // namespace carillon::memory
