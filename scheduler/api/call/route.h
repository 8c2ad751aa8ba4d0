// Routes (method, path, permission, handler) and the actions that they permit.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/access/roles.h"
#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// How a route treats Idempotency-Key.
enum class Keyed {
  kNo,
  kYes,
  kInWrite,  // like kYes, but the handler stores its answer in the transaction of its write
};

// The kind of the object whose id is the first {} of the path. If the caller's permission does not
// cover all objects, the caller must own this object. For an object of a job, it is enough that the
// job is shared with the caller.
enum class Owned { kNothing, kJob, kRun, kDeadLetter, kToken, kSecret, kBulk, kBackfill };

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/jobs/{}/history"
  Permission permission;
  Keyed keyed;
  Reply (*handler)(const Call& call);  // called once all checks of the pipeline have passed
  std::string_view action = {};        // name in the audit; empty: none, or the handler records it
  Owned owned = Owned::kNothing;
  // If true, the route is served even while the store is not trusted. All other writes
  // are then refused.
  bool on_any_store = false;
  // For a write: true if its handler reads the query. The query of all other writes must be empty.
  bool with_query = false;
};

struct RouteMatch {
  const Route* route = nullptr;  // null: no route for this path, or none for the method
  std::vector<std::string> arguments;
  std::string allow;  // methods that the path has; empty if the path is unknown
};

// Immutable.
class Routes {
 public:
  explicit Routes(std::vector<Route> routes);

  auto begin() const { return routes_.begin(); }
  auto end() const { return routes_.end(); }
  // HEAD is served as GET.
  RouteMatch Match(std::string_view method, const std::vector<std::string>& segments) const;

  // The actions on objects of a kind, with the permission that each needs. The name of an action is
  // the part after the dot ("pause" of "job.pause"); replace, patch and update are all "edit".
  using Actions = std::map<std::string, Permission>;
  const Actions& ActionsOn(Owned kind) const;
  // The same for objects with the name `thing` in the audit: "executor", "user", "secret", "token".
  const Actions& ActionsOn(std::string_view thing) const;

 private:
  const std::vector<Route> routes_;
  std::map<Owned, Actions> of_kinds_;
  std::map<std::string, Actions, std::less<>> of_things_;
};

}  // namespace carillon::scheduler
