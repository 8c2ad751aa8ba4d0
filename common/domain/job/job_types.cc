#include "common/domain/job/job_types.h"

#include <array>

#include "common/domain/enum_names.h"
#include "common/domain/run/retry_conditions.h"
#include "common/domain/template/template.h"

namespace carillon {
namespace {

Features NeedsNothing(const JobDefinition&) { return {}; }

Features NeedsInterpreter(const JobDefinition& job) {
  return {FeatureOf(job.script ? job.script->interpreter : Interpreter::kSh)};
}

Features NeedsHttp(const JobDefinition& job) {
  Features needs{Feature::kHttp};
  if (job.http && NeedsHttpExtended(*job.http)) needs.Add(Feature::kHttpExtended);
  return needs;
}

Features NeedsContainer(const JobDefinition&) { return {Feature::kContainer}; }

struct TypeRow {
  JobType type;
  Runner runner;
  Features (*needs)(const JobDefinition& job);
};
constexpr std::array<TypeRow, 7> kTypeRows{
    {{JobType::kShell, Runner::kWarden, NeedsNothing},
     {JobType::kScript, Runner::kWarden, NeedsInterpreter},
     {JobType::kHttp, Runner::kHttp, NeedsHttp},
     {JobType::kContainer, Runner::kWarden, NeedsContainer},
     {JobType::kHandler, Runner::kWorker, NeedsNothing},
     {JobType::kNoop, Runner::kNoop, NeedsNothing},
     {JobType::kWorkflow, Runner::kScheduler, NeedsNothing}}};
constexpr std::array<NameOf<JobType>, 7> kTypeNames{{{JobType::kShell, "shell"},
                                                     {JobType::kScript, "script"},
                                                     {JobType::kHttp, "http"},
                                                     {JobType::kContainer, "container"},
                                                     {JobType::kHandler, "handler"},
                                                     {JobType::kNoop, "noop"},
                                                     {JobType::kWorkflow, "workflow"}}};

const TypeRow& RowOf(JobType type) {
  for (const TypeRow& row : kTypeRows) {
    if (row.type == type) return row;
  }
  CARILLON_CHECK(false, "a job type without a row");
}

}  // namespace

Runner RunnerOf(JobType type) { return RowOf(type).runner; }

Features NeedsOf(const JobDefinition& job) {
  Features needs = RowOf(job.type).needs(job);
  if (!SecretsOf(job).empty()) needs.Add(Feature::kSecrets);
  // The engine enforces the limits of a container.
  if (job.limits && !job.container) needs = needs.With(NeedsOf(*job.limits));
  if (!job.run_as.empty()) needs.Add(Feature::kRunAs);
  if (!job.working_directory.empty()) needs.Add(Feature::kWorkingDirectory);
  if (!job.output_encoding.empty()) needs.Add(Feature::kOutputEncoding);
  if (NamesErrorCode(job.retry_on) || NamesErrorCode(job.no_retry_on)) {
    needs.Add(Feature::kErrorCodes);
  }
  if (FansOut(job)) needs.Add(Feature::kShards);
  return needs;
}

std::string_view Name(JobType value) { return NameIn(kTypeNames, value); }
template <>
Result<JobType> ParseName(std::string_view text) {
  return ValueIn(kTypeNames, text);
}

}  // namespace carillon
