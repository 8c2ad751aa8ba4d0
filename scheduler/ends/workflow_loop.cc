#include "scheduler/ends/workflow_loop.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/domain/run/run_kind.h"
#include "scheduler/assign/batch_split.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kLookEvery = 1s;
constexpr Duration kLookEveryIfOpen = 100ms;
constexpr Duration kLookGap = 10ms;  // between two looks, however often it is nudged
constexpr Duration kTurnEvery = 500ms;
constexpr Duration kRoundEvery = 2s;
constexpr size_t kRunsPerTurn = 100;
constexpr size_t kWakeUpsPerLook = 1'000;
constexpr size_t kHiddenMax = 20'000;
constexpr size_t kBeginsPerStep = 100;
constexpr size_t kDueMax = 10'000;
constexpr size_t kStepsAtOnce = 8;  // of one run, one after the other
constexpr Duration kAsideFor = 10s;
constexpr size_t kAsideMax = 1'000;
constexpr int kUnansweredMax = 3;

// False if the store as a whole does not answer, or the segments are lost.
bool IsOfTheRun(ErrorCode code) {
  return SplitHelps(code) || code == ErrorCode::kConflict || code == ErrorCode::kCorrupt ||
         code == ErrorCode::kExists || code == ErrorCode::kNotFound;
}

}  // namespace

WorkflowLoop::WorkflowLoop(const Ports& ports) : ports_(ports) {}

Status WorkflowLoop::Offer(DueWorkflow due) {
  {
    MutexLock lock(mu_);
    if (due_.size() >= kDueMax) {
      return {ErrorCode::kExhausted, "too many workflow runs wait for their begin"};
    }
    due_.insert_or_assign(due.run.key, std::move(due));
  }
  ports_.wake();
  return {};
}

void WorkflowLoop::Nudge() {
  nudged_ = true;
  ports_.wake();
}

SteadyTime WorkflowLoop::Step(SteadyTime now) {
  bool begins = false;
  {
    MutexLock lock(mu_);
    begins = !due_.empty();
  }
  const Duration every = open_ > 0 || more_ ? kLookEveryIfOpen : kLookEvery;
  const bool asked = nudged_.load() || begins || more_;
  const SteadyTime next = last_ == SteadyTime::min() ? now : last_ + (asked ? kLookGap : every);
  if (now < next) return next;
  last_ = now;
  nudged_ = false;
  const auto view = ports_.segments.View();
  const std::vector<SegmentId> segments = view->ActiveSegments();
  const auto cluster_now = ports_.cluster.SettledNow();
  if (segments.empty()) {
    after_ = 0;
    unfinished_.clear();
    SetOpen(0);
  }
  if (segments.empty() || !cluster_now) return now + kLookEvery;
  std::erase_if(aside_, [now](const auto& entry) { return entry.second <= now; });
  const Look look{*view, *cluster_now, now};
  BeginSome(look);
  more_ = FollowWakeUps(look, segments);
  TurnAround(look, segments);
  MutexLock lock(mu_);
  const bool again = more_ || !due_.empty() || nudged_.load();
  return now + (again ? kLookGap : open_ > 0 ? kLookEveryIfOpen : kLookEvery);
}

void WorkflowLoop::BeginSome(const Look& look) {
  std::vector<DueWorkflow> due;
  {
    MutexLock lock(mu_);
    while (!due_.empty() && due.size() < kBeginsPerStep) {
      due.push_back(std::move(due_.begin()->second));
      due_.erase(due_.begin());
    }
  }
  for (const DueWorkflow& one : due) Begin(look, one);
}

void WorkflowLoop::Begin(const Look& look, const DueWorkflow& due) {
  const PendingRun& run = due.run;
  const OwnedSegment* owned = look.view.Find(run.segment);
  if (owned == nullptr || owned->epoch != run.epoch) return;
  ClaimRequest request{.key = run.key,
                       .segment = run.segment,
                       .job_no = run.job_no,
                       .attempt = run.attempt,
                       .def_version = run.def_version};
  request.overlap = due.overlap;
  if (ports_.paused()) request.hold_back = ClaimReason::kClusterPaused;
  const Fence fence = look.view.FenceFor({run.segment});
  const auto reply = ports_.fences.Run(
      "begin", fence, [&] { return ports_.store.Begin(request, fence, look.cluster_now); });
  if (!reply.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(reply.code())).Add();
    log::Warn("workflow", "begin of run {}: {}", EncodeRunId(run.key), reply.error().message);
    return;
  }
  const bool again = reply->verdict == ClaimVerdict::kAcceptedAgain;
  ports_.metrics
      .counter("carillon_workflow_begins_total", again ? "accepted_again" : Name(reply->reason))
      .Add();
  if (reply->verdict == ClaimVerdict::kSkipped) CountEnded(RunState::kSkipped, 1);
  if (reply->verdict != ClaimVerdict::kAccepted) return;
  nudged_ = true;
}

bool WorkflowLoop::FollowWakeUps(const Look& look, const std::vector<SegmentId>& segments) {
  // The wake-ups of runs that were set aside stay, and must not hide those of others.
  const size_t limit = kWakeUpsPerLook + 2 * std::min(hidden_, kHiddenMax);
  const auto found = ports_.store.ScanWakeUps(segments, limit);
  if (!found.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(found.code())).Add();
    return false;
  }
  std::map<uint64_t, StepRequest> requests = std::exchange(unfinished_, {});
  std::erase_if(requests, [this](const auto& entry) { return aside_.contains(entry.first); });
  hidden_ = 0;
  for (const WakeUp& one : *found) {
    if (aside_.contains(one.run.no)) {
      ++hidden_;
      continue;
    }
    StepRequest& request = requests[one.run.no];
    request.run = one.run;
    request.segment = one.segment;
    request.wake_ups.push_back(one.id);
  }
  for (const auto& [no, request] : requests) TakeStep(look, request);
  return found->size() >= limit && (!requests.empty() || hidden_ < kHiddenMax);
}

void WorkflowLoop::TurnAround(const Look& look, const std::vector<SegmentId>& segments) {
  if (look.now < next_turn_ || (after_ == 0 && look.now < next_round_)) return;
  next_turn_ = look.now + kTurnEvery;
  if (after_ == 0) {
    next_round_ = look.now + kRoundEvery;
    counted_ = 0;
  }
  const auto found = ports_.store.ScanOpen(segments, after_, kRunsPerTurn);
  if (!found.ok()) {
    ports_.metrics.counter("carillon_store_errors_total", ErrorCodeName(found.code())).Add();
    return;
  }
  for (const OpenWorkflowRun& one : *found) {
    if (!aside_.contains(one.run.no)) TakeStep(look, {.run = one.run, .segment = one.segment});
  }
  counted_ += static_cast<int64_t>(found->size());
  const bool last = found->size() < kRunsPerTurn;
  after_ = last ? 0 : found->back().run.no;
  if (!last) return;
  SetOpen(counted_);
}

void WorkflowLoop::TakeStep(const Look& look, const StepRequest& request) {
  StepRequest next = request;
  for (size_t i = 0; i < kStepsAtOnce; ++i) {
    const Fence fence = look.view.FenceFor({next.segment});
    if (fence.empty()) return;
    const auto effect = ports_.fences.Run(
        "step", fence, [&] { return ports_.store.Step(next, fence, look.cluster_now); });
    if (!effect.ok()) {
      if (IsOfTheRun(effect.code()) || IsUnansweredAgain(next.run.no, effect.code())) {
        SetAside(next, effect.error(), look.now);
      }
      return;
    }
    unanswered_.erase(next.run.no);
    Count(*effect);
    if (!effect->again) return;
    next.wake_ups.clear();
  }
  unfinished_.insert_or_assign(next.run.no, next);
  nudged_ = true;
}

// A step that the store cannot take gets no answer either, and would be tried before those of
// others for ever. A store that is away answers no scan, so that few steps are asked of it.
bool WorkflowLoop::IsUnansweredAgain(uint64_t no, ErrorCode code) {
  if (code != ErrorCode::kUnavailable && code != ErrorCode::kTimeout) return false;
  if (unanswered_.size() >= kAsideMax) unanswered_.clear();
  if (++unanswered_[no] < kUnansweredMax) return false;
  unanswered_.erase(no);
  return true;
}

void WorkflowLoop::Count(const StepEffect& effect) {
  // Runs are open: the next look is soon, although the round has not counted them yet.
  if (!effect.released.empty() && open_ == 0) open_ = 1;
  ports_.metrics.counter("carillon_fires_total", Name(RunKind::kWorkflow))
      .Add(effect.released.size());
  for (const RunRow& row : effect.released) ports_.started({row.job_no, row.segment, row.key});
  CountEnded(RunState::kSkipped, effect.skipped);
  CountEnded(RunState::kCancelled, effect.cancelled);
  if (effect.ended) {
    CountEnded(*effect.ended, 1);
    ports_.metrics.counter("carillon_workflow_runs_total", Name(*effect.ended)).Add();
  }
  if (effect.freed_slot) ports_.slot_freed();
  if (!effect.completed) return;
  ports_.completed();
  nudged_ = true;  // the run may itself be a node
}

void WorkflowLoop::CountEnded(RunState state, int64_t runs) {
  if (runs == 0) return;
  ports_.metrics.counter("carillon_runs_total", Name(state)).Add(static_cast<uint64_t>(runs));
}

void WorkflowLoop::SetOpen(int64_t runs) {
  open_ = runs;
  ports_.metrics.gauge("carillon_workflow_runs_open").Set(static_cast<double>(runs));
}

void WorkflowLoop::SetAside(const StepRequest& request, const Error& error, SteadyTime now) {
  ports_.metrics.counter("carillon_workflow_steps_failed_total").Add();
  log::Error("workflow", "step of workflow run {} set aside for {} s: {}", request.run.no,
             kAsideFor / 1s, error.message);
  if (aside_.size() < kAsideMax) aside_[request.run.no] = now + kAsideFor;
}

}  // namespace carillon::scheduler
