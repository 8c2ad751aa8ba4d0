#include "scheduler/ends/begin_loop.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/domain/nodes/run_definition.h"
#include "scheduler/settings/new_fields.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kBeginsPerStep = 100;
constexpr size_t kDueMax = 10'000;
constexpr Duration kHostsHeardAfter = 20s;

}  // namespace

DueWorkflow ToDue(const PendingRun& run, const JobDefinition& job, Duration late_after) {
  return {.run = run,
          .overlap = OverlapRulesOf(job),
          .fans_out = FansOut(job),
          .counts_hosts = job.shards && job.shards->alive,
          .late_after = late_after};
}

Status BeginLoop::Add(DueWorkflow due) {
  {
    MutexLock lock(mu_);
    if (due_.size() >= kDueMax) {
      return {ErrorCode::kExhausted, "too many workflow runs wait for their begin"};
    }
    due_.insert_or_assign(due.run.key, std::move(due));
  }
  scan_.Nudge();
  return {};
}

SteadyTime BeginLoop::Step(SteadyTime now) {
  if (!first_step_) first_step_ = now;
  if (!scan_.IsDue(now)) return scan_.Next();
  const auto look = scan_.Begin(now);
  if (!look) return scan_.Next();
  std::vector<DueWorkflow> due;
  {
    MutexLock lock(mu_);
    while (!due_.empty() && due.size() < kBeginsPerStep) {
      due.push_back(std::move(due_.begin()->second));
      due_.erase(due_.begin());
    }
    if (!due_.empty()) scan_.Nudge();
  }
  for (const DueWorkflow& one : due) Begin(*look, one);
  return scan_.Next();
}

ClaimRequest BeginLoop::RequestOf(const DueWorkflow& due) const {
  const PendingRun& run = due.run;
  ClaimRequest request{.key = run.key,
                       .segment = run.segment,
                       .job_no = run.job_no,
                       .attempt = run.attempt,
                       .def_version = run.def_version};
  if (NodePositionOf(run.key)) request.rules = RulesOf(run);
  request.overlap = due.overlap;
  request.late_after = due.late_after;
  request.keep_zone = ports_.upgrade.FeatureOn(kFireDateMigration);
  if (ports_.owner.paused()) request.hold_back = ClaimReason::kClusterPaused;
  return request;
}

void BeginLoop::Begin(const Look& look, const DueWorkflow& due) {
  const PendingRun& run = due.run;
  const bool holds = look.view->Holds(run.segment, run.epoch);
  if (due.fans_out) {
    const bool begun = holds && BeginParts(look, due);
    return begun ? ports_.begun(run.key) : ports_.not_begun(run.key);
  }
  if (!holds) return;
  const ClaimRequest request = RequestOf(due);
  const auto reply = scan_.Write("begin", fmt::format("run {}", EncodeRunId(run.key)), look,
                                 {run.segment}, [&](const Fence& fence, WallTime cluster_now) {
                                   return ports_.store.Begin(request, fence, cluster_now);
                                 });
  if (!reply.ok()) return;
  CountBegin(reply->verdict, reply->reason);
  if (reply->verdict == ClaimVerdict::kAccepted) ports_.has_step();
}

bool BeginLoop::BeginParts(const Look& look, const DueWorkflow& due) {
  if (due.counts_hosts && look.now - *first_step_ < kHostsHeardAfter) return false;
  const PartsRequest request{.claim = RequestOf(due), .rendered = due.rendered};
  const ClaimRequest& claim = request.claim;
  const auto reply = scan_.Write("begin", fmt::format("run {}", EncodeRunId(claim.key)), look,
                                 {claim.segment}, [&](const Fence& fence, WallTime cluster_now) {
                                   return ports_.store.BeginParts(request, fence, cluster_now);
                                 });
  // A begin that was not answered may have taken effect. The sweep then finds its parts.
  if (!reply.ok()) return reply.code() == ErrorCode::kTimeout;
  CountBegin(reply->verdict, reply->reason);
  // All parts have the fire of this one, so the sweep finds them together.
  if (reply->due) ports_.owner.signals.due.Raise({claim.job_no, claim.segment, *reply->due});
  if (!reply->ended) return reply->due.has_value();
  CountEnded(*reply->ended);
  ports_.owner.signals.slot_freed.Raise();
  if (reply->completed) ports_.owner.signals.completed.Raise();
  return false;
}

void BeginLoop::CountBegin(ClaimVerdict verdict, ClaimReason reason) {
  const bool again = verdict == ClaimVerdict::kAcceptedAgain;
  ports_.owner.metrics
      .counter("carillon_workflow_begins_total", again ? "accepted_again" : Name(reason))
      .Add();
  if (verdict == ClaimVerdict::kSkipped) CountEnded(RunState::kSkipped);
}

void BeginLoop::CountEnded(RunState state) {
  ports_.owner.metrics.counter("carillon_runs_total", Name(state)).Add();
}

}  // namespace carillon::scheduler
