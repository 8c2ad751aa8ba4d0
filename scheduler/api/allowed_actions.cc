#include "scheduler/api/allowed_actions.h"

#include <map>
#include <nlohmann/json.hpp>

namespace carillon::scheduler {
namespace {

using nlohmann::json;

// "job.pause" is pause; every way of writing what is there is edit.
std::string ActionOf(const Route& route) {
  const std::string_view verb = route.action.substr(route.action.find('.') + 1);
  const bool edits = verb == "replace" || verb == "patch" || verb == "update";
  return edits ? "edit" : std::string(verb);
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

Actions ActionsOn(std::string_view thing) {
  Actions actions;
  for (const Route& route : RouteTable()) {
    const bool on_one = route.path.find("{}") != std::string_view::npos;
    if (on_one && route.action.substr(0, route.action.find('.')) == thing) {
      actions.emplace(ActionOf(route), route.permission);
    }
  }
  return actions;
}

const Actions& KnownActionsOn(std::string_view thing) {
  static const std::map<std::string_view, Actions> known = {{"executor", ActionsOn("executor")},
                                                            {"user", ActionsOn("user")},
                                                            {"secret", ActionsOn("secret")},
                                                            {"token", ActionsOn("token")}};
  return known.at(thing);
}

// Of those who reach only to what is theirs or shared with them: whether this is `within`.
json Allowed(const Caller& caller, const Actions& actions, bool within) {
  json allowed = json::array();
  for (const auto& [action, permission] : actions) {
    const Reach reach = caller.ReachFor(permission);
    if (reach == Reach::kAll || (reach == Reach::kOwn && within)) allowed.push_back(action);
  }
  return allowed;
}

}  // namespace

json AllowedActions(const Caller& caller, Owned kind, const JobPlace& job) {
  return Allowed(caller, KnownActionsOn(kind), MayAct(caller, job));
}

json AllowedActions(const Caller& caller, std::string_view thing, const std::string& owner) {
  return Allowed(caller, KnownActionsOn(thing), !owner.empty() && owner == caller.user_id);
}

Outcome<json> AllowedActions(const Call& call, Owned kind, const JobId& id) {
  CARILLON_ASSIGN_OR_RETURN(const JobPlace place, FindPlace(call, id));
  return AllowedActions(call.caller, kind, place);
}

}  // namespace carillon::scheduler
