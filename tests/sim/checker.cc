#include "tests/sim/checker.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"

namespace carillon::sim {
namespace {

constexpr Duration kClockTolerance = 100ms;

uint64_t OrderOf(const std::map<RunKey, uint64_t>& order, const RunKey& key) {
  const auto found = order.find(key);
  return found == order.end() ? 0 : found->second;
}

// An act on a fire is one on its parts.
uint64_t OrderWithFire(const std::map<RunKey, uint64_t>& order, const RunKey& key) {
  return std::max(OrderOf(order, key), OrderOf(order, OwnRunOf(key)));
}

// The run may start before its fire: a user has cancelled what it belongs to before that was due,
// and has retried it at once.
bool MayPrecedeItsFire(const RunRow& row) {
  return row.kind == RunKind::kWorkflow || row.kind == RunKind::kShard;
}

// True for the end of an approval or a wait, also of one that is over when it begins.
bool EndsOpen(const RunRow& before, const RunRow& after) {
  const bool begins = IsUnreleased(before.due) && IsTaskJob(after.job_no);
  return (begins || IsOpenedNode(before.due)) && before.attempt == after.attempt &&
         (after.state == RunState::kCompleted || after.state == RunState::kFailed);
}

}  // namespace

std::string Describe(const RunRow& row) {
  return fmt::format("run {} (job {}, fire {}) {} attempt {} version {}", EncodeRunId(row.key),
                     row.job_no.value(), FormatRfc3339(row.key.fire), Name(row.state), row.attempt,
                     row.def_version);
}

void Checker::Fail(const std::string& promise, const std::string& text) {
  if (!violation_) violation_ = Violation{promise, text};
}

void Checker::Wrote(const std::string& process, std::string_view call, const Fence& fence) {
  if (call == "MarkLost") ++losses_;
  for (const FencedSegment& held : fence) {
    const Epoch now = ports_.epoch(held.segment);
    if (now == held.epoch) continue;
    Fail("P5 fenced", fmt::format("{} wrote ({}) to segment {} by epoch {}, now {}", process, call,
                                  held.segment.value(), held.epoch.value(), now.value()));
  }
}

bool Checker::IsByHand(const RunKey& key) const {
  return IsItselfByHand(key) || (by_hand_ && workflows_.AreOfOne(*by_hand_, key));
}

void Checker::RunWritten(const RunRow* before, const RunRow* after) {
  ++events_;
  const auto writer = by_hand_ ? PartsCheck::Writer::kPerson : PartsCheck::Writer::kMember;
  if (const auto wrong = parts_.RunWritten(before, after, writer)) Fail("parts", *wrong);
  if (const auto wrong = waits_.RunWritten(before, after)) Fail("waits", *wrong);
  if (after == nullptr) {
    // Only an edit, pause or delete may remove a run, and only before its first attempt; and the
    // begin of a fire parts of an earlier one.
    const bool waits = before->state == RunState::kPending && before->attempt == 1;
    if (!waits && !BeginsAgain(before->key)) {
      Fail("P1 no silent miss", "deleted: " + Describe(*before));
    }
    rows_.erase(before->key);
    delay_runs_[before->key.schedule_id].erase(before->key);
    queued_[before->job_no].erase(before->key);
    holders_[before->job_no].erase(before->key);
    LeaveGroupQueue(before->key);
    return;
  }
  rows_[after->key] = *after;
  const bool reopened =
      before != nullptr && IsFinal(before->state) && after->state == RunState::kPending;
  if (reopened) {
    workflows_.Reopened(after->key,
                        IsBackfilled(before, *after) ? BeginKind::kAnew : BeginKind::kContinued);
  }
  if (const auto wrong = dependents_.RunWritten(before, after)) Fail("dependents", *wrong);
  if (const auto wrong = nodes_.RunWritten(before, *after)) Fail("nodes", *wrong);
  if (const auto wrong = workflows_.RunWritten(before, *after)) Fail("workflows", *wrong);
  if (IsBackfilled(before, *after)) Backfilled(*after);
  if (before != nullptr) {
    FollowGroup(*before, *after);
    FollowQueue(*before, *after);
  }
  if (before == nullptr) {
    if (after->due < after->key.fire && !MayPrecedeItsFire(*after)) {
      Fail("P1 never early", "due before its fire: " + Describe(*after));
    }
    created_at_[after->key] = events_;
    if ((after->flags & run_flag::kDelay) != 0) CheckDelay(*after);
    return;
  }
  if (before->state == RunState::kPending && after->state == RunState::kRunning) {
    Claimed(*before, *after);
  }
  // A run that was SKIPPED keeps its attempt.
  const bool tried = reopened || after->attempt > before->attempt;
  if (tried && !IsBackfilled(before, *after)) Retried(*after);
  CheckRetryConditions(*before, *after);
  CheckTreeIsDead(*before, *after);
  CheckFireIsDead(*before, *after);
  CheckCancelStays(*before, *after);
  CheckTransition(*before, *after);
}

void Checker::RunEnded(const RunCompletion& end) {
  if (end.target != CompletionTarget::kSchedule) return;
  delay_ends_.try_emplace(end.key,
                          std::min(end.ended, ports_.now()));  // a host's clock may be ahead
}

// A delay schedule has one open run at most, not counting a run that a user retried, and its fires
// are as far apart as it says. The host that reports an end, and the member that acts on it, have
// clocks that are slightly off.
void Checker::CheckDelay(const RunRow& row) {
  std::set<RunKey>& runs = delay_runs_[row.key.schedule_id];
  const auto later = runs.insert(row.key).first;
  if (later == runs.begin()) return;
  const RunKey before = *std::prev(later);
  const auto end = delay_ends_.find(before);
  if (end == delay_ends_.end()) {
    return Fail("delay", fmt::format("{} is planned although run {} has not ended", Describe(row),
                                     EncodeRunId(before)));
  }
  Duration every = Duration::max();
  for (const auto& [version, definition] : jobs_[row.job_no].definitions) {
    for (const ScheduleSpec& spec : definition.schedules) {
      if (spec.kind == ScheduleKind::kDelay) every = std::min(every, spec.every);
    }
  }
  ++delays_;
  if (every == Duration::max() || row.key.fire >= end->second + every - kClockTolerance) return;
  Fail("delay", fmt::format("{} is {} ms after the end of run {}", Describe(row),
                            (row.key.fire - end->second) / 1ms, EncodeRunId(before)));
}

void Checker::Claimed(const RunRow& before, const RunRow& after) {
  ++claims_;
  // A second or later attempt may start before the fire time: a user can cancel a run before it is
  // due and retry it at once. So may the nodes of a workflow run, and the parts of a fire.
  const bool of_a_fire = before.attempt == 1 && !MayPrecedeItsFire(after);
  const bool early = of_a_fire && after.key.fire > ports_.now();
  if (early || before.due > ports_.now()) {
    Fail("P1 never early", "claimed before it was due: " + Describe(after));
  }
  const AttemptName name{after.key, after.attempt};
  if (!accepted_.emplace(name, after.claim_token).second) {
    Fail("P3 one start per attempt", "claimed twice: " + Describe(after));
  }
  parameters_[name] = ports_.tables.FindRun(OwnRunOf(after.key))->parameters_json;
  if (const auto own = workflows_.OwnOf(after.key)) {
    const bool cancelled = OrderOf(cancelled_at_, *own) > OrderOf(retried_at_, *own);
    if (cancelled && !nodes_.RunsAfterCancel(after.key)) {
      Fail("P8 edits are obeyed", "claimed after the cancel of its workflow: " + Describe(after));
    }
  }
  if (NodePlaceOf(after.key)) {
    for (const RunKey& key : workflows_.RunsFromBefore(after.key)) {
      if (!ports_.is_alive(key, 0) || confirmed_overlap_.contains(key)) continue;
      Fail("P4 no overlap between attempts",
           fmt::format("claimed while run {} acts, of a workflow run from before: {}",
                       EncodeRunId(key), Describe(after)));
    }
  }
  CheckObeys(after);
  CheckOverlapPolicy(after);
  CheckGroupLimit(after);
  if (ports_.is_alive(after.key, 0) && !confirmed_overlap_.contains(after.key)) {
    Fail("P4 no overlap between attempts",
         "another attempt was granted while one acts: " + Describe(after));
  }
}

void Checker::CheckObeys(const RunRow& row) {
  const JobTruth& job = jobs_[row.job_no];
  const uint64_t by_hand = OrderWithFire(retried_at_, row.key);
  if (row.def_version < job.version) {
    Fail("P8 edits are obeyed",
         fmt::format("claimed after version {} was acknowledged: {}", job.version, Describe(row)));
  }
  if (job.deleted) Fail("P8 edits are obeyed", "claimed after the delete: " + Describe(row));
  const RunKey own = OwnRunOf(row.key);
  const bool manual = rows_.at(own).kind == RunKind::kManual;
  const uint64_t wanted = std::max(by_hand, manual ? OrderOf(created_at_, own) : 0);
  if (job.paused && wanted < job.paused_at) {
    Fail("P8 edits are obeyed", "claimed while paused: " + Describe(row));
  }
  const uint64_t cancelled = OrderWithFire(cancelled_at_, row.key);
  if (cancelled > by_hand) {
    Fail("P8 edits are obeyed", "claimed after its cancel: " + Describe(row));
  }
}

const JobDefinition* Checker::DefinitionOf(const RunRow& row) const {
  const auto job = jobs_.find(row.job_no);
  if (job == jobs_.end()) return nullptr;
  const auto definition = job->second.definitions.find(row.def_version);
  return definition == job->second.definitions.end() ? nullptr : &definition->second;
}

void Checker::Retried(const RunRow& after) {
  if (IsByHand(after.key)) {
    retried_at_[after.key] = events_;
    if (by_hand_confirmed_ && ports_.is_alive(after.key, 0)) confirmed_overlap_.insert(after.key);
    return;
  }
  // Whoever has its fire begin once more wants its parts, too.
  if (BeginsAgain(after.key)) {
    retried_at_[after.key] = events_;
    backfilled_[after.key] = after.attempt;
    return;
  }
  const uint64_t cancelled = OrderWithFire(cancelled_at_, after.key);
  if (cancelled > OrderWithFire(retried_at_, after.key)) {
    Fail("P8 edits are obeyed", "tried again after its cancel: " + Describe(after));
  }
}

// True if a backfill has just created the run, or has run it again.
bool Checker::IsBackfilled(const RunRow* before, const RunRow& after) const {
  if (after.kind != RunKind::kBackfill || IsByHand(after.key)) return false;
  return before == nullptr || (IsFinal(before->state) && after.state == RunState::kPending);
}

void Checker::Backfilled(const RunRow& after) {
  const auto state = backfills_.find(after.job_no);
  if (state == backfills_.end() || state->second == Backfilling::kEnded) {
    Fail("backfill", "created after its pause or cancel: " + Describe(after));
  }
  if (after.key.fire >= ports_.next_fire(after.key.schedule_id)) {
    Fail("backfill", "a fire of the planner: " + Describe(after));
  }
  backfilled_[after.key] = after.attempt;
  retried_at_[after.key] = events_;
}

// CANCELLED may be written only when the process tree is dead, because the next run may then start.
void Checker::CheckTreeIsDead(const RunRow& before, const RunRow& after) {
  if (before.state == after.state || after.state != RunState::kCancelled) return;
  if (!ports_.is_alive(after.key, 0)) return;
  if (IsItselfByHand(after.key) && by_hand_confirmed_) confirmed_overlap_.insert(after.key);
  if (confirmed_overlap_.contains(after.key)) return;
  Fail("P4 no overlap between attempts", "cancelled while its process acts: " + Describe(after));
}

// The end of a fire lets the next one start, or its retry, so no process of its parts acts, unless
// the run says that one may. After the delete of its job there is neither, but CANCELLED says of
// any run that all is dead.
void Checker::CheckFireIsDead(const RunRow& before, const RunRow& after) {
  if (before.state == after.state || !IsFinal(after.state) || after.may_still_run) return;
  if (IsPart(after.key)) return;
  for (const RunKey& part : parts_.PartsOf(after.key)) {
    if (!ports_.is_alive(part, 0) || confirmed_overlap_.contains(part)) continue;
    if (after.state != RunState::kCancelled && OutlivesItsJob(part)) continue;
    Fail("P4 no overlap between attempts",
         fmt::format("ended while its part {} acts: {}", part.shard, Describe(after)));
  }
}

// True for a part that is LOST because its job was deleted, although nobody has killed its process:
// the deleted job said that it may finish. The fire ends with the reports of the other parts, and
// once more if one comes late.
bool Checker::OutlivesItsJob(const RunKey& part) const {
  const RunRow& row = rows_.at(part);
  const auto attempt = attempts_.find({part, row.attempt});
  const bool killed = attempt == attempts_.end() || attempt->second.killed_at_lease_end;
  return row.state == RunState::kLost && !killed && jobs_.at(row.job_no).deleted;
}

// True for an own run, which is SKIPPED after its begin if no host can take a part.
bool Checker::EndsWithoutExecutor(const RunRow& before) const {
  const JobDefinition* definition = DefinitionOf(before);
  const bool of_workflow = definition != nullptr && definition->workflow;
  return before.executor.empty() && !IsPart(before.key) && !of_workflow;
}

// A cancel request must stay until the attempt has ended, and a kill must stay a kill.
void Checker::CheckCancelStays(const RunRow& before, const RunRow& after) {
  const bool open = after.state == RunState::kRunning || after.state == RunState::kHeld;
  if (!open || after.attempt != before.attempt) return;
  if (after.cancel_requested >= before.cancel_requested) return;
  Fail("P8 edits are obeyed", "its cancel was taken back: " + Describe(after));
}

void Checker::CheckTransition(const RunRow& before, const RunRow& after) {
  const bool by_hand =
      IsByHand(after.key) || IsBackfilled(&before, after) || BeginsAgain(after.key);
  const bool late_success = before.state == RunState::kPending &&
                            after.state == RunState::kCompleted &&
                            after.attempt + 1 == before.attempt;
  const auto backfilled = backfilled_.find(after.key);
  if (late_success && backfilled != backfilled_.end() && backfilled->second == before.attempt) {
    Fail("backfill", "completed by an attempt of before: " + Describe(before));
  }
  bool legal = before.state == after.state;
  switch (before.state) {
    case RunState::kPending:
      legal = legal || late_success || after.state == RunState::kRunning ||
              after.state == RunState::kSkipped || after.state == RunState::kCancelled ||
              (after.state == RunState::kFailed && before.due == kAwaiting) ||
              EndsOpen(before, after);
      break;
    case RunState::kRunning:
      legal = legal || (after.state == RunState::kPending
                            ? after.attempt == before.attempt + 1
                            : after.state != RunState::kSkipped || EndsWithoutExecutor(before));
      break;
    case RunState::kHeld:
      legal = legal || IsFinal(after.state) || after.attempt == before.attempt + 1;
      break;
    case RunState::kLost: legal = legal || by_hand || IsFinal(after.state); break;
    default: legal = legal || by_hand; break;
  }
  if (before.state == RunState::kSkipped && after.state != before.state &&
      after.attempt == before.attempt && !by_hand_) {
    legal = false;  // a claim of before the backfill would start it, with old parameters
  }
  // A node that failed and is skipped by a user has the next attempt, which it does not make.
  const bool skipped = by_hand && after.state == RunState::kSkipped;
  const bool steps =
      after.attempt == before.attempt || late_success ||
      (after.attempt == before.attempt + 1 && (after.state == RunState::kPending || skipped));
  if (!legal || !steps) {
    Fail("run-states.md", fmt::format("{} -> {}", Describe(before), Describe(after)));
  }
}

// The process has the parameters that the API shows, those of the run's row: "round" of a backfill.
void Checker::CheckParameters(const AttemptName& name, const StartAttempt& start) {
  const std::string& stored = parameters_[name];
  const auto given = start.env.find("CARILLON_PARAM_ROUND");
  const bool wanted =
      !start.env.empty() && stored.find("\"round\"") != std::string::npos;  // a request has none
  const bool right = given == start.env.end()
                         ? !wanted
                         : stored.find("\"round\":\"" + given->second + "\"") != std::string::npos;
  if (right) return;
  Fail("parameters", fmt::format("run {} attempt {} was started with round {}, and has {}",
                                 EncodeRunId(name.first), name.second,
                                 given == start.env.end() ? "none" : given->second, stored));
}

// A process is told which part of its fire it is, and of how many.
void Checker::CheckPlace(const AttemptName& name, const StartAttempt& start) {
  const auto row = rows_.find(name.first);
  if (start.env.empty() || row == rows_.end()) return;  // a request has none
  if (row->second.attempt != name.second) return;       // another begin may have changed the total
  const bool part = IsPart(name.first);
  const std::string index = std::to_string(part ? IndexOfPart(name.first) : 0);
  const std::string total = std::to_string(part ? row->second.shard_total : 1);
  const auto told = [&](const char* variable) {
    const auto found = start.env.find(variable);
    return found == start.env.end() ? std::string("none") : found->second;
  };
  if (told("CARILLON_SHARD_INDEX") == index && told("CARILLON_SHARD_TOTAL") == total) return;
  Fail("parts", fmt::format("{} was told that it is part {} of {}", Describe(row->second),
                            told("CARILLON_SHARD_INDEX"), told("CARILLON_SHARD_TOTAL")));
}

void Checker::ProcessStarted(const ExecutorId& host, const StartAttempt& start) {
  ++events_;
  ++starts_;
  const AttemptName name = NameOf(start.attempt);
  AttemptTruth& truth = attempts_[name];
  truth.host = host;
  truth.held = start.attempt;
  truth.killed_at_lease_end = start.kill_at_lease_end;
  const std::string what =
      fmt::format("run {} attempt {} on {}", EncodeRunId(name.first), name.second, host.value());
  ports_.trace(fmt::format("{}: {} started, killed at lease end: {}", host.value(), what,
                           start.kill_at_lease_end));
  if (start.script) {
    ++scripts_;
    // Without a path: this host does not have the interpreter.
    if (!start.script->interpreter.starts_with('/')) {
      Fail("features", "a script without its interpreter: " + what);
    }
  }
  if (++truth.starts > 1) Fail("P3 one start per attempt", "started twice: " + what);
  const auto accepted = accepted_.find(name);
  if (accepted == accepted_.end() || accepted->second != start.attempt.token) {
    Fail("P3 one start per attempt", "started without a claim: " + what);
  }
  CheckParameters(name, start);
  CheckPlace(name, start);
  if (ports_.is_alive(name.first, name.second) && !confirmed_overlap_.contains(name.first)) {
    Fail("P4 no overlap between attempts", "another attempt is alive: " + what);
  }
  const auto row = rows_.find(name.first);
  // A row keeps its due time while its run is active.
  const bool active = row != rows_.end() && row->second.state == RunState::kRunning;
  const bool precedes = row != rows_.end() && MayPrecedeItsFire(row->second);
  const WallTime fire = precedes ? WallTime{} : start.attempt.key.fire;
  const WallTime due = active ? row->second.due : fire;
  if (name.second == 1 && ports_.now() < std::max(due, fire)) {
    Fail("P1 never early", "started early: " + what);
  }
  const bool superseded = row != rows_.end() && row->second.attempt > name.second &&
                          row->second.state == RunState::kRunning;
  if (superseded && !confirmed_overlap_.contains(name.first)) {
    Fail("P4 no overlap between attempts", "started after the next attempt was granted: " + what);
  }
}

void Checker::AttemptEndedOnDisk(const ExecutorId& host, const AttemptEnded& ended) {
  ++events_;
  AttemptTruth& truth = attempts_[NameOf(ended.attempt)];
  truth.host = host;
  truth.held = ended.attempt;
  if (!truth.end) truth.end = ended.result;
  const bool ran = ended.result.started != WallTime{};
  if (ran && ended.result.reason == reason::kLeaseEnded) ++killed_by_lease_;
  ports_.trace(fmt::format("{}: run {} attempt {} ended {} {}", host.value(),
                           EncodeRunId(ended.attempt.key), ended.attempt.attempt,
                           Name(ended.result.state), ended.result.reason));
}

void Checker::LeasesRenewed(const ExecutorId& host, size_t count, Duration ahead) {
  ports_.trace(fmt::format("{}: {} leases end in {} ms", host.value(), count, ahead / 1ms));
}

void Checker::JobAcknowledged(const StoredJob& job) {
  ++events_;
  JobTruth& truth = jobs_[job.job_no];
  truth.version = job.version;
  truth.definitions[job.version] = job.definition;
  dependents_.Acknowledged(job);
  if (!job.definition.enabled && !truth.paused) truth.paused_at = events_;
  truth.paused = !job.definition.enabled;
}

}  // namespace carillon::sim
