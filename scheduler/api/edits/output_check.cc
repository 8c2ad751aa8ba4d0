#include "scheduler/api/edits/output_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/domain/job/fan_out.h"
#include "common/domain/job_text.h"
#include "common/domain/template/trigger_outputs.h"
#include "common/domain/workflow/workflow_check.h"

namespace carillon::scheduler {
namespace {

bool IsStored(const JobDefinition* before, const ScheduleSpec& spec) {
  return before != nullptr && std::ranges::count(before->schedules, spec) > 0;
}

// The definition that the job before has after the request; nullopt: it is not known.
Outcome<std::optional<JobDefinition>> ReadJobBefore(const Call& call, const JobId& id,
                                                    const ComingJobs& coming) {
  const auto job = call.stores.jobs.GetJob(id);
  const bool unknown =
      !job.ok() && (job.code() == ErrorCode::kNotFound || job.code() == ErrorCode::kCorrupt);
  if (unknown) return std::optional<JobDefinition>();
  if (!job.ok()) return job.error();
  // As the jobs of nodes: where the jobs are really written, this one has been.
  if (coming.stored == nullptr || !coming.after) return std::optional(job->definition);
  return coming.after(*job);
}

std::string WhyNone(const JobDefinition& upstream) {
  if (FansOut(upstream)) return "its runs fan out, and keep no outputs";
  if (upstream.workflow) return "its workflow does not declare it in workflow.outputs";
  return fmt::format("runs of type {} have none", Name(upstream.type));
}

void AddMistakes(const ScheduleSpec& spec, size_t place, const JobDefinition& upstream,
                 std::vector<FieldError>* found) {
  const NodeResults results = ResultsOf(upstream);
  for (const auto& [name, value] : spec.parameters) {
    for (const std::string& output : OutputsAskedBy(value)) {
      if (results.outputs && (!results.names || results.names->contains(output))) continue;
      found->push_back({fmt::format("/schedules/{}/parameters/{}", place, EscapePointer(name)),
                        std::string(Name(WorkflowMistake::kBadTemplate)),
                        fmt::format("Job {} has no output '{}': {}.", spec.upstream, output,
                                    WhyNone(upstream))});
    }
  }
}

}  // namespace

Outcome<std::vector<FieldError>> FindOutputMistakes(const Call& call, const JobDefinition* before,
                                                    const JobDefinition& definition,
                                                    const ComingJobs& coming) {
  std::vector<FieldError> found;
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    const ScheduleSpec& spec = definition.schedules[i];
    if (!AsksForOutputs(spec) || IsStored(before, spec)) continue;
    CARILLON_ASSIGN_OR_RETURN(const std::optional<JobDefinition> upstream,
                              ReadJobBefore(call, JobId(spec.upstream), coming));
    if (upstream) AddMistakes(spec, i, *upstream, &found);
  }
  return found;
}

Problem OutputProblem(std::vector<FieldError> found) {
  Problem problem{.status = 422, .code = found.front().code, .detail = found.front().detail};
  problem.errors = std::move(found);
  return problem;
}

}  // namespace carillon::scheduler
