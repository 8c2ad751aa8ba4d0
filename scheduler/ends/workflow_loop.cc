#include "scheduler/ends/workflow_loop.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "common/domain/run/run_kind.h"
#include "scheduler/assign/bisect.h"

namespace carillon::scheduler {
namespace {

constexpr Duration kTurnEvery = 500ms;
constexpr Duration kRoundEvery = 2s;
constexpr size_t kRunsPerTurn = 100;
constexpr size_t kWakeUpsPerLook = 1'000;
constexpr size_t kHiddenMax = 20'000;
constexpr size_t kStepsAtOnce = 8;  // of one run, one after the other
constexpr size_t kRunsPerWrite = 50;
constexpr int kUnansweredMax = 3;
constexpr size_t kUnansweredRunsMax = 1'000;

}  // namespace

WorkflowLoop::WorkflowLoop(const Ports& ports) : ports_(ports), scan_("workflow", ports.owner) {}

SteadyTime WorkflowLoop::Step(SteadyTime now) {
  if (!scan_.IsDue(now)) return scan_.Next();
  const auto look = scan_.Begin(now);
  if (!look) {
    if (ports_.owner.segments.View()->ActiveSegments().empty()) ForgetOpen();
    return scan_.Next();
  }
  if (FollowWakeUps(*look)) scan_.Nudge();
  StepOpenRuns(*look);
  if (open_ > 0) scan_.SetBusy();
  return scan_.Next();
}

void WorkflowLoop::ForgetOpen() {
  after_ = 0;
  unfinished_.clear();
  SetOpen(0);
}

bool WorkflowLoop::FollowWakeUps(const Look& look) {
  // The wake-ups of runs that were set aside stay, and must not hide those of others.
  const size_t limit = kWakeUpsPerLook + 2 * std::min(hidden_, kHiddenMax);
  const auto found = ports_.store.ScanWakeUps(look.segments, limit);
  if (!scan_.Succeeded(found)) return false;
  std::map<uint64_t, StepRequest> requests = std::exchange(unfinished_, {});
  std::erase_if(requests, [this](const auto& entry) { return scan_.IsAside(entry.first); });
  hidden_ = 0;
  for (const WakeUp& one : *found) {
    if (scan_.IsAside(one.run.no)) {
      ++hidden_;
      continue;
    }
    StepRequest& request = requests[one.run.no];
    request.run = one.run;
    request.segment = one.segment;
    request.wake_ups.push_back(one.id);
  }
  std::vector<StepRequest> steps;
  for (auto& [no, request] : requests) steps.push_back(std::move(request));
  TakeSteps(look, std::move(steps));
  return found->size() >= limit && (!requests.empty() || hidden_ < kHiddenMax);
}

void WorkflowLoop::StepOpenRuns(const Look& look) {
  if (look.now < next_turn_ || (after_ == 0 && look.now < next_round_)) return;
  next_turn_ = look.now + kTurnEvery;
  if (after_ == 0) {
    next_round_ = look.now + kRoundEvery;
    counted_ = 0;
  }
  const auto found = ports_.store.ScanOpen(look.segments, after_, kRunsPerTurn);
  if (!scan_.Succeeded(found)) return;
  std::vector<StepRequest> steps;
  for (const OpenWorkflowRun& one : *found) {
    if (!scan_.IsAside(one.run.no)) steps.push_back({.run = one.run, .segment = one.segment});
  }
  TakeSteps(look, std::move(steps));
  counted_ += static_cast<int64_t>(found->size());
  const bool last = found->size() < kRunsPerTurn;
  after_ = last ? 0 : found->back().run.no;
  if (!last) return;
  SetOpen(counted_);
}

void WorkflowLoop::TakeSteps(const Look& look, std::vector<StepRequest> steps) {
  std::erase_if(steps, [&](const StepRequest& request) {
    return look.view->FenceFor({request.segment}).empty();
  });
  for (size_t round = 0; round < kStepsAtOnce && !steps.empty(); ++round) {
    // A run whose last step got no answer delays no others, and none of them shares its fault.
    const auto alone = std::ranges::partition(steps, [this](const StepRequest& request) {
      return !unanswered_.contains(request.run.no);
    });
    std::span<StepRequest> rest(steps.data(), steps.size() - alone.size());
    const std::span<StepRequest> suspects(alone);
    again_.clear();
    while (!rest.empty()) {
      const size_t size = std::min(rest.size(), kRunsPerWrite);
      StepEach(look, rest.first(size));
      rest = rest.subspan(size);
    }
    for (size_t i = 0; i < suspects.size(); ++i) StepEach(look, suspects.subspan(i, 1));
    steps = std::exchange(again_, {});
  }
  if (steps.empty()) return;
  for (const StepRequest& request : steps) unfinished_.insert_or_assign(request.run.no, request);
  scan_.Nudge();
}

void WorkflowLoop::StepEach(const Look& look, std::span<StepRequest> steps) {
  const Status written = Bisect(
      steps, [&](std::span<StepRequest> some) { return Step(look, some); },
      [&](const StepRequest& one, const Error& error) { SetAside(look, one, error); });
  if (written.ok()) return;
  // Not about one item: all without an answer are to blame, until they are taken alone.
  if (written.code() != ErrorCode::kUnavailable && written.code() != ErrorCode::kTimeout) return;
  for (const StepRequest& request : steps) {
    if (IsUnansweredAgain(request.run.no)) SetAside(look, request, written.error());
  }
}

Status WorkflowLoop::Step(const Look& look, std::span<StepRequest> steps) {
  const std::vector<StepRequest> requests(steps.begin(), steps.end());
  std::vector<SegmentId> touched;
  for (const StepRequest& request : requests) touched.push_back(request.segment);
  const std::string subject =
      requests.size() == 1 ? fmt::format("workflow run {}", requests.front().run.no) : "";
  auto effects = scan_.Write(
      "step", subject, look, std::move(touched),
      [&](const Fence& fence, WallTime cluster_now) {
        return ports_.store.Step(requests, fence, cluster_now);
      },
      OwnerScan::Conflicts::kLeftToCaller);
  if (!effects.ok()) {
    // A run may also have been deleted.
    const bool gone = effects.code() == ErrorCode::kNotFound;
    return gone ? Error{ErrorCode::kConflict, effects.error().message} : effects.error();
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const StepEffect& effect = effects->at(i);
    unanswered_.erase(requests[i].run.no);
    Count(effect);
    if (effect.again) again_.push_back(requests[i]);
  }
  return {};
}

void WorkflowLoop::SetAside(const Look& look, const StepRequest& request, const Error& error) {
  ports_.owner.metrics.counter("carillon_workflow_steps_failed_total").Add();
  scan_.SetAside(request.run.no, "a step", error, look.now);
}

// A step that the store cannot take gets no answer either, and would be tried before those of
// others for ever. A store that is away answers no scan, so that few steps are asked of it.
bool WorkflowLoop::IsUnansweredAgain(uint64_t no) {
  if (unanswered_.size() >= kUnansweredRunsMax) unanswered_.clear();
  if (++unanswered_[no] < kUnansweredMax) return false;
  unanswered_.erase(no);
  return true;
}

void WorkflowLoop::Count(const StepEffect& effect) {
  // Runs are open: the next look is soon, although the round has not counted them yet.
  if (!effect.released.empty() && open_ == 0) open_ = 1;
  ports_.owner.metrics.counter("carillon_fires_total", Name(RunKind::kWorkflow))
      .Add(effect.released.size());
  for (const RunRow& row : effect.released)
    ports_.owner.signals.due.Raise({row.job_no, row.segment, row.key});
  CountEnded(RunState::kSkipped, effect.skipped);
  CountEnded(RunState::kCancelled, effect.cancelled);
  if (effect.ended) {
    CountEnded(*effect.ended, 1);
    ports_.owner.metrics.counter("carillon_workflow_runs_total", Name(*effect.ended)).Add();
  }
  if (effect.freed_slot) ports_.owner.signals.slot_freed.Raise();
  if (!effect.completed) return;
  ports_.owner.signals.completed.Raise();
  scan_.Nudge();  // the run may itself be a node
}

void WorkflowLoop::CountEnded(RunState state, int64_t runs) {
  if (runs == 0) return;
  ports_.owner.metrics.counter("carillon_runs_total", Name(state)).Add(static_cast<uint64_t>(runs));
}

void WorkflowLoop::SetOpen(int64_t runs) {
  open_ = runs;
  ports_.owner.metrics.gauge("carillon_workflow_runs_open").Set(static_cast<double>(runs));
}

}  // namespace carillon::scheduler
