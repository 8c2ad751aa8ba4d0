#include "scheduler/api/edits/edit_facts.h"

#include <algorithm>
#include <string>

#include "common/domain/run/dependents.h"
#include "common/domain/template/template.h"
#include "scheduler/api/call/calendars.h"
#include "scheduler/api/edits/event_check.h"

namespace carillon::scheduler {
namespace {

Outcome<bool> GroupExists(const Call& call, const JobDefinition& definition) {
  if (definition.concurrency_group.empty()) return true;
  const auto group = call.stores.groups.GetGroup(definition.concurrency_group, 0, WallTime{});
  if (!group.ok() && group.code() != ErrorCode::kNotFound) return group.error();
  return group.ok();
}

Result<std::vector<StoredSecret>> NamedSecrets(const Call& call, const JobDefinition& definition) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : SecretsOf(definition)) names.push_back(name);
  if (names.empty()) return std::vector<StoredSecret>();
  return call.stores.secrets.FindSecrets(names);
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
  CARILLON_ASSIGN_OR_RETURN(facts.group_exists, GroupExists(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.calendars, CalendarsFor(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.secrets, NamedSecrets(call, definition));
  CARILLON_ASSIGN_OR_RETURN(facts.missing_upstream,
                            MissingUpstream(call, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.without_room,
                            FindTriggerWithoutRoom(call, id, before, definition, coming));
  CARILLON_ASSIGN_OR_RETURN(facts.wait_mistakes,
                            FindWaitMistakes(call, id, before, definition, coming));
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
