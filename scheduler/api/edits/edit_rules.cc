#include "scheduler/api/edits/edit_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "common/domain/run/dependents.h"
#include "common/domain/template/template.h"
#include "scheduler/api/edits/dependency_check.h"
#include "scheduler/api/edits/event_check.h"
#include "scheduler/api/edits/output_check.h"
#include "scheduler/api/edits/written_parts.h"

namespace carillon::scheduler {
namespace {

struct UsedSecret {
  std::string name;
  std::string pointer;
};

std::vector<UsedSecret> UsedSecretsOf(const JobDefinition& definition) {
  std::vector<UsedSecret> used;
  for (const WrittenPart& part : PartsOf(definition)) {
    for (const auto& [name, variable] : SecretsOf(part.job)) {
      used.push_back({name, part.at + "/env/" + variable});
    }
  }
  return used;
}

// `named`: the secrets that the job uses already. The caller must be allowed to use the others.
// nullopt: whatever the caller may use themselves.
Outcome<bool> DecideSecrets(const Caller& caller, const JobDefinition& definition,
                            const std::optional<std::set<std::string>>& named,
                            const std::vector<StoredSecret>& found) {
  Problem problem{.status = 422, .code = "unknown_secret"};
  for (const UsedSecret& used : UsedSecretsOf(definition)) {
    const auto& [name, pointer] = used;
    const auto at = std::find_if(
        found.begin(), found.end(),
        [&, &wanted = name](const StoredSecret& secret) { return secret.record.name == wanted; });
    if (at == found.end()) {
      problem.errors.push_back(
          {pointer, "unknown_secret", fmt::format("Unknown secret {}.", name)});
    } else if (!MayUse(at->record, definition.user_id)) {
      problem.errors.push_back(
          {pointer, "secret_forbidden",
           fmt::format("Secret {} is neither owned by the owner of the job nor shared.", name)});
    } else if (named && !named->contains(name) && !MayUse(at->record, caller.user_id)) {
      problem.errors.push_back(
          {pointer, "secret_forbidden",
           fmt::format("Secret {} is neither yours nor shared. In a job that is shared with you, "
                       "you can keep the secrets it already uses but not add others.",
                       name)});
    }
  }
  if (problem.errors.empty()) return true;
  problem.code = problem.errors[0].code;
  problem.detail = problem.errors[0].detail;
  return problem;
}

// The names of the secrets that a caller with access through a share may keep; nullopt: the caller
// owns the job, or will.
std::optional<std::set<std::string>> KeptSecrets(const Editor& editor, const JobBase* before) {
  if (before == nullptr || editor.owns_all || IsOwn(editor.caller, ScopeOf(*before))) return {};
  std::set<std::string> named;
  if (!before->readable) return named;
  for (UsedSecret& used : UsedSecretsOf(before->job.definition)) named.insert(std::move(used.name));
  return named;
}

Outcome<bool> DecideGroups(const JobDefinition& definition, const std::set<std::string>& unknown) {
  Problem problem{.status = 422, .code = "unknown_group"};
  for (const NamedGroup& group : GroupsOf(definition)) {
    if (!unknown.contains(group.name)) continue;
    problem.errors.push_back(
        {group.pointer, "unknown_group",
         fmt::format("There is no concurrency group {0}. An administrator creates it with PUT "
                     "/api/groups/{0}.",
                     group.name)});
  }
  if (problem.errors.empty()) return true;
  problem.detail = problem.errors[0].detail;
  return problem;
}

// The text is the same for a name: who may not list the users must not learn from it which names
// there are.
Outcome<bool> DecideApprovers(const JobDefinition& definition,
                              const std::set<std::string>& unknown) {
  Problem problem{.status = 422, .code = "unknown_user"};
  for (const NamedUser& user : ApproversOf(definition)) {
    if (!unknown.contains(user.id)) continue;
    problem.errors.push_back(
        {user.pointer, "unknown_user",
         fmt::format("There is no user with the id {}. Write an id, as `carillon user list` shows "
                     "it, not a name.",
                     user.id)});
  }
  if (problem.errors.empty()) return true;
  problem.detail = problem.errors[0].detail;
  return problem;
}

Outcome<bool> DecideCalendars(const JobDefinition& definition, const CalendarSet& calendars) {
  Problem problem{.status = 422, .code = "unknown_calendar"};
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    const ScheduleSpec& spec = definition.schedules[i];
    for (const auto& [field, name] :
         {std::pair("calendar", &spec.calendar), std::pair("blackout", &spec.blackout)}) {
      if (name->empty() || calendars.Find(*name) != nullptr) continue;
      problem.errors.push_back({fmt::format("/schedules/{}/{}", i, field), "unknown_calendar",
                                fmt::format("There is no calendar {}.", *name)});
    }
  }
  if (problem.errors.empty()) return true;
  problem.detail = problem.errors[0].detail;
  return problem;
}

// The pointer of the first `run_as`; nullopt: it has none.
std::optional<std::string> RunAsOf(const JobDefinition& definition) {
  for (const WrittenPart& part : PartsOf(definition)) {
    if (!part.job.run_as.empty()) return part.at + "/run_as";
  }
  return std::nullopt;
}

// A job that runs as another user has the rights of that user, so who may edit it may use them.
Outcome<bool> DecideRunAs(const Editor& editor, const JobDefinition* before,
                          const JobDefinition& definition) {
  if (editor.owns_all) return true;
  const auto place = RunAsOf(definition);
  const bool had_user = before != nullptr && RunAsOf(*before);
  if (!had_user && !place) return true;
  Problem problem{.status = 403,
                  .code = "run_as_forbidden",
                  .detail = "Only an administrator can create or change a job with run_as.",
                  .errors = {{place.value_or("/run_as"), "run_as_forbidden",
                              "Only an administrator can set or keep it."}}};
  problem.members["permission"] = Name(Permission::kWriteJobs);
  return problem;
}

}  // namespace

Outcome<bool> DecidePlace(const Editor& editor, const JobBase* before,
                          const JobDefinition& definition) {
  if (editor.owns_all) return true;
  const std::optional<JobAccessScope> place =
      before != nullptr ? std::optional(ScopeOf(*before)) : std::nullopt;
  return CheckWrite(editor.caller, place ? &*place : nullptr, definition);
}

Outcome<bool> DecideEdit(const Editor& editor, const JobBase* before,
                         const JobDefinition& definition, const EditFacts& facts) {
  CARILLON_TRY(DecidePlace(editor, before, definition));
  CARILLON_TRY(
      DecideSecrets(editor.caller, definition, KeptSecrets(editor, before), facts.secrets));
  CARILLON_TRY(DecideGroups(definition, facts.unknown_groups));
  CARILLON_TRY(DecideApprovers(definition, facts.unknown_users));
  CARILLON_TRY(DecideCalendars(definition, *facts.calendars));
  CARILLON_TRY(DecideRunAs(editor, DefinitionOf(before), definition));
  if (facts.missing_upstream) {
    const size_t at = *facts.missing_upstream;
    return DependencyProblem(UnknownUpstream(at, JobId(definition.schedules.at(at).upstream)));
  }
  if (facts.without_room) return TooManyTriggers(*facts.without_room, definition.name_space);
  if (!facts.wait_mistakes.empty()) return WaitProblem(facts.wait_mistakes);
  if (!facts.output_mistakes.empty()) return OutputProblem(facts.output_mistakes);
  if (!facts.node_problems.empty()) return NodeJobProblem(facts.node_problems);
  const JobDefinition* stored = DefinitionOf(before);
  if (!facts.lost_results.empty() && stored != nullptr) {
    return LostResultsProblem(facts.lost_results, *stored, definition);
  }
  if (!facts.lost_fires.empty()) return LostFiresProblem(facts.lost_fires);
  return true;
}

}  // namespace carillon::scheduler
