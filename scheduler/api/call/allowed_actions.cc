#include "scheduler/api/call/allowed_actions.h"

#include <nlohmann/json.hpp>

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// `within`: the object belongs to the caller or is shared with them. A permission for own and
// shared objects then covers the object.
json Allowed(const Caller& caller, const Routes::Actions& actions, bool within) {
  json allowed = json::array();
  for (const auto& [action, permission] : actions) {
    const Reach reach = caller.ReachFor(permission);
    if (reach == Reach::kAll || (reach == Reach::kOwn && within)) allowed.push_back(action);
  }
  return allowed;
}

}  // namespace

json AllowedActions(const Call& call, Owned kind, const JobAccessScope& job) {
  return Allowed(call.caller, call.services.routes.ActionsOn(kind), MayAct(call.caller, job));
}

json AllowedActions(const Call& call, std::string_view thing, const std::string& owner) {
  const Caller& caller = call.caller;
  return Allowed(caller, call.services.routes.ActionsOn(thing),
                 !owner.empty() && owner == caller.user_id);
}

Outcome<json> AllowedActions(const Call& call, Owned kind, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const JobAccessScope place, FindPlace(call, id));
  return AllowedActions(call, kind, place);
}

}  // namespace carillon::scheduler
