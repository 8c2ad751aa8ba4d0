#include "scheduler/api/call/route.h"

#include "common/base/check.h"

namespace carillon::scheduler {
namespace {

// True if `segments` match `path`. The segments at the {} of `path` are stored in `arguments`.
bool Fits(std::string_view path, const std::vector<std::string>& segments,
          std::vector<std::string>& arguments) {
  arguments.clear();
  path.remove_prefix(1);
  for (size_t i = 0; i < segments.size(); ++i) {
    const size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part == "{}") {
      arguments.push_back(segments[i]);
    } else if (part != segments[i]) {
      return false;
    }
    const bool last = i + 1 == segments.size();
    if (slash == std::string_view::npos) return last;
    path.remove_prefix(slash + 1);
  }
  return false;
}

// "job.pause" becomes "pause"; replace, patch and update become "edit".
std::string ActionOf(const Route& route) {
  const std::string_view verb = route.action.substr(route.action.find('.') + 1);
  const bool edits = verb == "replace" || verb == "patch" || verb == "update";
  return edits ? "edit" : std::string(verb);
}

}  // namespace

Routes::Routes(std::vector<Route> routes) : routes_(std::move(routes)) {
  for (const Route& route : routes_) {
    of_kinds_[route.owned].emplace(ActionOf(route), route.permission);
    if (route.path.find("{}") == std::string_view::npos) continue;
    const std::string thing(route.action.substr(0, route.action.find('.')));
    of_things_[thing].emplace(ActionOf(route), route.permission);
  }
}

const Routes::Actions& Routes::ActionsOn(Owned kind) const { return of_kinds_.at(kind); }

const Routes::Actions& Routes::ActionsOn(std::string_view thing) const {
  const auto found = of_things_.find(thing);
  CARILLON_CHECK(found != of_things_.end(), std::string(thing));
  return found->second;
}

RouteMatch Routes::Match(std::string_view method, const std::vector<std::string>& segments) const {
  const std::string_view served = method == "HEAD" ? "GET" : method;
  RouteMatch match;
  std::vector<std::string> arguments;
  for (const Route& route : routes_) {
    if (!Fits(route.path, segments, arguments)) continue;
    if (route.method == served) {
      match.route = &route;
      match.arguments = arguments;
    }
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += route.method;
    if (route.method == "GET") match.allow += ", HEAD";
  }
  return match;
}

}  // namespace carillon::scheduler
