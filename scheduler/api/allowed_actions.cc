#include "scheduler/api/allowed_actions.h"

#include <map>
#include <nlohmann/json.hpp>

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// "job.pause" is pause; both ways of writing a definition are edit.
std::string ActionOf(const Route& route) {
  const std::string_view verb = route.action.substr(route.action.find('.') + 1);
  return verb == "replace" || verb == "patch" ? "edit" : std::string(verb);
}

// The actions on things of a kind, with the permission that each needs.
using Actions = std::map<std::string, Permission>;

Actions ActionsOn(Owned kind) {
  Actions actions;
  for (const Route& route : RouteTable()) {
    if (route.owned == kind) actions.emplace(ActionOf(route), route.permission);
  }
  return actions;
}

const Actions& KnownActionsOn(Owned kind) {
  static const Actions jobs = ActionsOn(Owned::kJob);
  static const Actions runs = ActionsOn(Owned::kRun);
  static const Actions dead_letters = ActionsOn(Owned::kDeadLetter);
  if (kind == Owned::kJob) return jobs;
  return kind == Owned::kRun ? runs : dead_letters;
}

}  // namespace

json AllowedActions(const Caller& caller, Owned kind, const JobPlace& job) {
  const bool within = MayAct(caller, job);
  json allowed = json::array();
  for (const auto& [action, permission] : KnownActionsOn(kind)) {
    const Reach reach = caller.ReachFor(permission);
    if (reach == Reach::kAll || (reach == Reach::kOwn && within)) allowed.push_back(action);
  }
  return allowed;
}

Outcome<json> AllowedActions(const Call& call, Owned kind, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const JobPlace place, FindPlace(call, id));
  return AllowedActions(call.caller, kind, place);
}

}  // namespace carillon::scheduler
