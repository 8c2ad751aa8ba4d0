// The part of the actor that has to do with jobs whose runs wait for runs of other jobs.
#include <array>
#include <optional>
#include <utility>

#include "tests/sim/actor.h"

namespace carillon::sim {
namespace {

int NumberOfJob(const JobId& id) { return std::stoi(id.value().substr(id.value().find('-') + 1)); }

JobId JobOfNumber(int number) { return JobId("job-" + std::to_string(number)); }

// A node of a workflow that was made before the job.
std::optional<std::pair<JobId, JobId>> NodeMadeBefore(const std::vector<StoredJob>& jobs,
                                                      int number) {
  for (const StoredJob& job : jobs) {
    if (!job.definition.workflow || NumberOfJob(job.job_id) >= number) continue;
    const JobId& node = job.definition.workflow->nodes.back().job;
    if (NumberOfJob(node) < number) return std::pair(node, job.job_id);
  }
  return std::nullopt;
}

}  // namespace

// Decided without a random draw, as WithWindowAndJitter. Jobs wait for earlier ones, so that there
// is no circle; edits change what they wait for, and whether. A workflow waits only for another
// one, because the jobs before it are mostly its nodes, and not where that may be its node, too.
void Actor::WaitForOthers(JobDefinition& job, const JobId& id) {
  static constexpr std::array<WaitWindow, 5> kWindows = {
      WaitWindow{.day = 0}, WaitWindow{.back_s = 20}, WaitWindow{.back_s = 4, .ahead_s = 15},
      WaitWindow{.back_s = 60}, WaitWindow{.back_s = 8}};
  const int number = NumberOfJob(id);
  const size_t choice = static_cast<size_t>(number) + deeds_ / 8;
  const bool is_workflow = job.workflow.has_value();
  job.waits_for.clear();
  job.wait_limit_s = 0;
  if (number < 2 || choice % 5 == 4) return;
  if (is_workflow && (number < 6 || profile_.nested)) return;
  const size_t window = choice % kWindows.size();
  UpstreamWait wait{.job = JobOfNumber(is_workflow       ? number - 3
                                       : number % 2 == 0 ? std::max(1, number - 2)
                                                         : number - 1),
                    .on = choice % 3 == 1 ? AfterOutcome::kDone : AfterOutcome::kSuccess,
                    .window = kWindows.at(window),
                    .which = choice % 4 == 1 ? WaitWhich::kAll : WaitWhich::kLast};
  if (!is_workflow && choice % 3 == 2) {
    if (const auto node = NodeMadeBefore(Jobs(), number)) {
      wait.job = node->first;
      wait.in = node->second;
    }
  }
  job.waits_for.push_back(wait);
  if (!is_workflow && number % 4 == 0) {
    job.waits_for.push_back(
        {.job = JobOfNumber(number - 3), .on = AfterOutcome::kDone, .window = {.back_s = 40}});
  }
  job.wait_limit_s = 60;
}

void Actor::Release(const RunKey& key) {
  p_.checker.waits().BeginByHand(key);
  const auto released = p_.stores.upstream.ReleaseRun(key, {.now = p_.now()});
  p_.checker.waits().EndByHand();
  if (released.ok()) p_.nudge({released->row.job_no, released->row.segment, key});
}

void Actor::ReleaseSomething() {
  const std::vector<RunKey> awaiting = p_.checker.waits().Awaiting();
  if (!awaiting.empty()) Release(awaiting[deeds_ / 16 % awaiting.size()]);
}

void Actor::ReleaseAll() {
  for (const RunKey& key : p_.checker.waits().Awaiting()) Release(key);
}

}  // namespace carillon::sim
