#include "common/domain/nodes/run_definition.h"

#include <utility>

#include "common/domain/nodes/run_rules.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/workflow/node_key.h"

namespace carillon {

std::optional<size_t> NodePositionOf(const RunKey& run) {
  const auto place = NodePlaceOf({.fire = run.fire, .schedule_id = run.schedule_id});
  return place ? std::optional(place->position) : std::nullopt;
}

Result<JobDefinition> DefinitionForRun(JobDefinition of_version, JobNo job_no,
                                       std::optional<size_t> position, std::string_view rules) {
  if (IsTaskJob(job_no)) {
    if (!position) return {ErrorCode::kCorrupt, "a run of the tasks of a workflow is no node's"};
    CARILLON_ASSIGN_OR_RETURN(JobDefinition task, TaskAt(of_version, *position));
    if (of_version.workflow->nodes[*position].task.empty()) {
      return {ErrorCode::kCorrupt, "an approval or a wait has no process"};
    }
    of_version = std::move(task);
  }
  if (rules.empty()) return of_version;
  CARILLON_ASSIGN_OR_RETURN(const RunRules own, RunRulesFromText(rules));
  return WithRules(std::move(of_version), own);
}

Duration TimeoutOf(const JobDefinition& job, const RunRow& run) {
  const auto own = RunRulesFromText(run.rules);
  return std::chrono::seconds(own.ok() ? own->timeout_s.value_or(job.timeout_s) : job.timeout_s);
}

}  // namespace carillon
