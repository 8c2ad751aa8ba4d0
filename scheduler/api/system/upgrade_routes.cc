#include "scheduler/api/system/upgrade_routes.h"

#include <nlohmann/json.hpp>

#include "scheduler/api/http/page.h"
#include "scheduler/api/http/request_parts.h"

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// False before the store has answered.
bool IsFinished(const SchemaLevels& levels) {
  return levels.applied > 0 && levels.finished >= levels.applied;
}

json ShowUpgrade(const Call& call) {
  const UpgradeState state = call.api.upgrade.State();
  const SchemaLevels& levels = state.levels;
  // An earlier finish may have failed, or its answer was lost.
  const bool has_problem = !state.problem.empty() && !IsFinished(levels);
  json members = json::array();
  for (const ClusterMember& member : call.api.status.Read().members) {
    members.push_back({{"id", member.id.value()},
                       {"version", member.version.empty() ? json(nullptr) : json(member.version)},
                       {"schema", member.schema == 0 ? json(nullptr) : json(member.schema)},
                       {"upgraded", levels.applied > 0 && member.schema >= levels.applied}});
  }
  json off = json::array();
  for (const NewField& field : call.api.new_fields) {
    if (call.api.upgrade.FeatureOn(field.migration)) continue;
    off.push_back({{"field", field.name}, {"schema", field.migration}});
  }
  return {{"schema", levels.applied == 0 ? json(nullptr) : json(levels.applied)},
          {"finished_schema", levels.applied == 0 ? json(nullptr) : json(levels.finished)},
          {"finished", IsFinished(levels)},
          {"finishing", state.finishing},
          {"problem", has_problem ? json(state.problem) : json(nullptr)},
          {"members", std::move(members)},
          {"off_until_finish", std::move(off)}};
}

}  // namespace

Reply GetUpgrade(const Call& call) {
  CARILLON_TRY(Query::Read(call.request, {}));
  return JsonResponse(200, ShowUpgrade(call));
}

// The request only starts the finish, because that takes half a minute. GET shows its outcome.
Reply FinishUpgrade(const Call& call) {
  CARILLON_ASSIGN_OR_RETURN(const json body, ReadObject(call.request, Body::kOptional, {"reason"}));
  CARILLON_TRY(TextMember(body, "reason", kReasonCharactersMax));
  if (IsFinished(call.api.upgrade.State().levels)) return JsonResponse(200, ShowUpgrade(call));
  call.api.upgrade.RequestFinish();
  return JsonResponse(202, ShowUpgrade(call));
}

}  // namespace carillon::scheduler
