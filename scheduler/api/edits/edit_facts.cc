#include "scheduler/api/edits/edit_facts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/domain/run/dependents.h"
#include "common/domain/template/template.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/edits/event_check.h"
#include "scheduler/api/edits/output_check.h"
#include "scheduler/api/edits/written_parts.h"

namespace carillon::scheduler {
namespace {

constexpr size_t kUnknownUsersMax = 20;

Outcome<std::set<std::string>> UnknownGroups(const Call& call, const JobDefinition& definition) {
  std::set<std::string> named;
  for (NamedGroup& group : GroupsOf(definition)) named.insert(std::move(group.name));
  std::set<std::string> unknown;
  for (const std::string& name : named) {
    const auto group = call.stores.groups.GetGroup(name, 0, WallTime{});
    if (!group.ok() && group.code() != ErrorCode::kNotFound) return group.error();
    if (!group.ok()) unknown.insert(name);
  }
  return unknown;
}

Outcome<std::set<std::string>> UnknownUsers(const Call& call, const JobDefinition* before,
                                            const JobDefinition& definition) {
  std::set<std::string> known;
  if (before != nullptr) {
    for (NamedUser& user : ApproversOf(*before)) known.insert(std::move(user.id));
  }
  std::set<std::string> unknown;
  for (NamedUser& named : ApproversOf(definition)) {
    if (!known.insert(named.id).second) continue;
    const auto user = call.stores.auth.GetUser(named.id);
    if (!user.ok() && user.code() != ErrorCode::kNotFound) return user.error();
    if (!user.ok()) unknown.insert(std::move(named.id));
    if (unknown.size() == kUnknownUsersMax) break;
  }
  return unknown;
}

Result<std::vector<StoredSecret>> NamedSecrets(const Call& call, const JobDefinition& definition) {
  std::set<std::string> named;
  for (const WrittenPart& part : PartsOf(definition)) {
    for (const auto& [name, variable] : SecretsOf(part.job)) named.insert(name);
  }
  if (named.empty()) return std::vector<StoredSecret>();
  return call.stores.secrets.FindSecrets({named.begin(), named.end()});
}

Outcome<std::optional<size_t>> MissingUpstream(const Call& call, const JobDefinition* before,
                                               const JobDefinition& definition,
                                               const ComingJobs& coming) {
  std::vector<JobId> named;
  if (before != nullptr) named = UpstreamOf(*before);
  for (size_t i = 0; i < definition.schedules.size(); ++i) {
    const ScheduleSpec& spec = definition.schedules[i];
    if (spec.kind != ScheduleKind::kAfter) continue;
    const JobId upstream(spec.upstream);
    if (std::find(named.begin(), named.end(), upstream) != named.end()) continue;
    if (coming.stored != nullptr && coming.stored->contains(spec.upstream)) continue;
    const auto head = call.stores.jobs.GetJobHead(upstream);
    if (!head.ok() && head.code() != ErrorCode::kNotFound) return head.error();
    if (!head.ok() || head->deleted) return std::optional(i);
  }
  return std::optional<size_t>();
}

}  // namespace

Outcome<EditFacts> ReadEditFacts(const Call& call, const JobId& id, const JobDefinition* before,
                                 const JobDefinition& definition, const ComingJobs& coming) {
  EditFacts facts;
  CARILLON_ASSIGN_OR_RETURN(facts.unknown_groups, UnknownGroups(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.unknown_users, UnknownUsers(call, before, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.calendars, CalendarsFor(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.secrets, NamedSecrets(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.missing_upstream,
                            MissingUpstream(call, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.without_room,
                            FindTriggerWithoutRoom(call, id, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.wait_mistakes,
                            FindWaitMistakes(call, id, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.output_mistakes,
                            FindOutputMistakes(call, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.node_problems,
                            FindNodeProblems(call, id, before, definition, coming));
  if (before != nullptr) {
    CARILLON_ASSIGN_OR_RETURN(facts.lost_results,
                              FindLostResults(call, id, *before, definition, coming));
    CARILLON_ASSIGN_OR_RETURN(facts.lost_fires,
                              FindLostFires(call, id, *before, definition, coming));
  }
  return facts;
}

}  // namespace carillon::scheduler
