#include "scheduler/api/jobs/outside_parameters.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/domain/job_text.h"
#include "common/domain/template/command_parameters.h"
#include "common/wire/json/job/given_parameters.h"
#include "common/wire/json/json_text.h"
#include "scheduler/api/call/ownership.h"
#include "scheduler/api/http/problem.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

bool MayWrite(const Call& call, const JobDefinition& job) {
  const Reach reach = call.caller.ReachFor(Permission::kWriteJobs);
  return reach == Reach::kAll || (reach == Reach::kOwn && MayAct(call.caller, ScopeOf(job)));
}

bool HasChoices(const JobDefinition& job, const std::string& name) {
  const auto rule = job.parameter_rules.find(name);
  return rule != job.parameter_rules.end() && !rule->second.choices.empty();
}

}  // namespace

Outcome<std::string> MarkOutside(const Call& call, const JobDefinition& job, const json& given,
                                 const std::string& parameters) {
  if (given.empty() || MayWrite(call, job)) return parameters;
  CARILLON_ASSIGN_OR_RETURN(RenderedParameters marked, GivenFromText(parameters));
  for (const auto& [name, value] : given.items()) {
    if (value.is_string() && !HasChoices(job, name)) marked.untrusted.insert(name);
  }
  for (const std::string& name : CommandParameters(job)) {
    if (!marked.untrusted.contains(name)) continue;
    return InvalidField(
        JsonPointer("/parameters", name), "unsafe_parameter",
        fmt::format(
            "It is part of the command, which only those who may change the job may write. In the "
            "command, use $CARILLON_PARAM_{} instead, or give the parameter choices.",
            AsciiUpper(name)));
  }
  return GivenToText(marked);
}

}  // namespace carillon::scheduler
