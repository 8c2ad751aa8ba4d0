#include "tests/twins/memory_node_jobs.h"

#include <string>
#include <utility>

#include "common/domain/nodes/for_run.h"
#include "common/domain/nodes/task_jobs.h"
#include "common/domain/parts/run_part.h"
#include "common/domain/workflow/node_key.h"
#include "tests/twins/memory_run_writes.h"

namespace carillon::memory {

void PutTaskJob(MemoryTables& tables, const JobEntry& workflow) {
  if (!NeedsTaskJob(workflow.definition)) return;
  const JobNo job_no = TaskJobOf(workflow.job_no);
  JobEntry* row = tables.FindJob(job_no);
  if (row == nullptr) {
    row = &tables.AddJob({.job_no = job_no,
                          .id = JobId("." + std::to_string(workflow.job_no.value())),
                          .segment = workflow.segment,
                          .hidden = true,
                          .created = workflow.created});
  }
  row->definition.type = JobType::kNoop;
  row->definition.on_lost = OnLost::kHold;
  row->definition.name = workflow.definition.name;
  row->definition.name_space = workflow.definition.name_space;
  row->definition.user_id = workflow.definition.user_id;
  row->definition.retention_days = workflow.definition.retention_days;
}

JobRow JobOf(MemoryTables& tables, const RunRow& run) {
  return ForRun(ToJobRow(*tables.FindJob(run.job_no)), run);
}

const JobDefinition* VersionOf(MemoryTables& tables, JobNo job_no, int64_t version) {
  const JobEntry& job = tables.OwnerOf(job_no);
  const auto found = job.versions.find(version);
  const bool readable = found != job.versions.end() && !job.unreadable.contains(version);
  return readable ? &found->second : nullptr;
}

Result<JobDefinition> DefinitionOf(MemoryTables& tables, const RunRow& run) {
  const JobDefinition* version = VersionOf(tables, run.job_no, run.def_version);
  if (version == nullptr) {
    return {ErrorCode::kCorrupt, "the definition of run " + EncodeRunId(run.key) + " is gone"};
  }
  JobDefinition definition = *version;
  if (IsTaskJob(run.job_no)) {
    const auto place = NodePlaceOf(OwnRunOf(run.key));
    if (!place) return {ErrorCode::kCorrupt, "run " + EncodeRunId(run.key) + " is no node's"};
    CARILLON_ASSIGN_OR_RETURN(definition, TaskAt(*version, place->position));
  }
  if ((run.flags & run_flag::kRules) == 0) return definition;
  CARILLON_ASSIGN_OR_RETURN(const RunRules rules, RunRulesFromText(run.rules));
  return WithRules(std::move(definition), rules);
}

RunRules RulesOf(const RunRow& run) {
  if ((run.flags & run_flag::kRules) == 0) return {};
  return RunRulesFromText(run.rules).value_or(RunRules{});
}

void CopyRules(const RunRow& own, RunRow* part) {
  part->rules = own.rules;
  part->flags = (part->flags & ~run_flag::kRules) | (own.flags & run_flag::kRules);
}

}  // namespace carillon::memory
