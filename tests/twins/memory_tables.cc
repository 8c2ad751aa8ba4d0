#include "tests/twins/memory_tables.h"

#include <algorithm>
#include <cctype>

namespace carillon::memory {
namespace {

bool CountsAsActive(const RunRow& row, bool was_active) {
  if (IsFinal(row.state)) return false;
  return row.state != RunState::kPending || was_active;
}

}  // namespace

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool NameContains(const JobEntry& job, std::string_view text) {
  const std::string wanted = Lower(text);
  return Lower(job.definition.name).find(wanted) != std::string::npos ||
         Lower(job.id.value()).find(wanted) != std::string::npos;
}

Tables::Tables(uint32_t segment_count)
    : segments(segment_count),
      pending_(segment_count),
      due_(segment_count),
      running_(segment_count),
      cancels_(segment_count) {
  for (uint32_t i = 0; i < segment_count; ++i) {
    segments[i] = {.segment = SegmentId(i), .released = true};
  }
}

const RunEntry* Tables::FindRun(const RunKey& key) const {
  const auto found = runs_.find(key);
  return found == runs_.end() ? nullptr : &found->second;
}

void Tables::PutRun(RunEntry entry) {
  const RunKey key = entry.row.key;
  entry.row.may_still_run = MayStillRun(entry.row.state, entry.result.reason);
  const auto found = runs_.find(key);
  std::optional<RunRow> before;
  if (found != runs_.end()) {
    before = found->second.row;
    Unindex(*before);
    found->second = std::move(entry);
  } else {
    runs_.emplace(key, std::move(entry));
  }
  const RunRow& after = runs_.at(key).row;
  Index(after);
  if (observer_) observer_(before ? &*before : nullptr, &after);
}

void Tables::EraseRun(const RunKey& key) {
  const auto found = runs_.find(key);
  if (found == runs_.end()) return;
  const RunRow before = found->second.row;
  Unindex(before);
  jobs_.at(before.job_no).open.erase(key);
  jobs_.at(before.job_no).active.erase(key);
  runs_.erase(found);
  if (observer_) observer_(&before, nullptr);
}

void Tables::Unindex(const RunRow& row) {
  const size_t segment = row.segment.value();
  pending_[segment].erase({row.due, row.key});
  running_[segment].erase(row.key);
  cancels_[segment].erase(row.key);
  if (row.state == RunState::kHeld) --held_;
}

void Tables::Index(const RunRow& row) {
  const size_t segment = row.segment.value();
  if (row.state == RunState::kPending) pending_[segment].insert({row.due, row.key});
  const bool held = row.state == RunState::kHeld;
  const bool running = row.state == RunState::kRunning;
  if (running) running_[segment].insert(row.key);
  if (held) ++held_;
  if (row.cancel_requested && (running || held)) cancels_[segment].insert(row.key);
  JobEntry& job = jobs_.at(row.job_no);
  if (IsFinal(row.state)) {
    job.open.erase(row.key);
  } else {
    job.open.insert(row.key);
  }
  if (CountsAsActive(row, job.active.contains(row.key))) {
    job.active.insert(row.key);
  } else {
    job.active.erase(row.key);
  }
}

Status Tables::CheckUnsettled(const std::string& scope, const std::string& key) const {
  const auto begun = requests.find({scope, key});
  if (begun != requests.end() && !begun->second.answer) return {};
  return {ErrorCode::kConflict, "the request with this key was finished meanwhile"};
}

const ScheduleEntry* Tables::FindSchedule(ScheduleId id) const {
  const auto found = schedules_.find(id);
  return found == schedules_.end() ? nullptr : &found->second;
}

void Tables::PutSchedule(ScheduleEntry entry) {
  DueIndex& due = due_[entry.segment.value()];
  const auto found = schedules_.find(entry.id);
  if (found != schedules_.end()) due.erase({found->second.next_fire, entry.id});
  if (entry.active && entry.next_fire != kNever) due.insert({entry.next_fire, entry.id});
  schedules_[entry.id] = std::move(entry);
}

JobEntry* Tables::FindJob(JobNo job_no) {
  const auto found = jobs_.find(job_no);
  return found == jobs_.end() ? nullptr : &found->second;
}

JobEntry* Tables::FindJob(const JobId& id) {
  const auto found = job_ids_.find(id);
  return found == job_ids_.end() ? nullptr : FindJob(found->second);
}

JobEntry& Tables::AddJob(JobEntry entry) {
  job_ids_[entry.id] = entry.job_no;
  const JobNo job_no = entry.job_no;
  return jobs_[job_no] = std::move(entry);
}

void RecordAttempt(RunEntry& entry, RunAttempt attempt) {
  const auto place = std::lower_bound(
      entry.attempts.begin(), entry.attempts.end(), attempt.attempt,
      [](const RunAttempt& earlier, int number) { return earlier.attempt < number; });
  if (place == entry.attempts.end() || place->attempt != attempt.attempt) {
    entry.attempts.insert(place, std::move(attempt));
    return;
  }
  if (place->state != RunState::kLost) return;
  attempt.executor = place->executor;
  attempt.claimed = place->claimed;
  *place = std::move(attempt);
}

void ApplyChange(RunEntry& entry, const RunChange& change, const AttemptResult& result) {
  RunRow& row = entry.row;
  if (change.record_attempt) {
    RecordAttempt(entry, {.attempt = row.attempt,
                          .state = result.state,
                          .executor = row.executor,
                          .claimed = row.claimed,
                          .result = result});
  }
  if (change.store_result) {
    // The text about who cancelled the run, and why, was written before its end and is kept.
    const std::string why = change.state == RunState::kCancelled ? entry.result.error : "";
    entry.result = result;
    if (!why.empty()) entry.result.error = why;
    // A late success takes its attempt back from the list of earlier ones.
    std::erase_if(entry.attempts,
                  [&](const RunAttempt& earlier) { return earlier.attempt >= change.attempt; });
  } else if (change.state == RunState::kHeld) {
    // The text of a cancel is kept until the end.
    std::string why = std::move(entry.result.error);
    entry.result = result;
    entry.result.error = std::move(why);
  } else if (change.state == RunState::kPending) {
    entry.result = {};
  }
  entry.result.reason = change.reason;
  row.state = change.state;
  row.attempt = change.attempt;
  if (change.state == RunState::kPending) {
    row.due = change.due;
    row.def_version = change.def_version;
    row.priority = change.priority;
  }
  if (IsFinal(change.state) || change.state == RunState::kPending) row.cancel_requested.reset();
}

}  // namespace carillon::memory
