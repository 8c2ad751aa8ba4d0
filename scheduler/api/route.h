// One table of routes: method, path, permission, handler.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "scheduler/api/api_context.h"
#include "scheduler/api/change_watch.h"
#include "scheduler/api/identifiers.h"
#include "scheduler/api/log_reads.h"
#include "scheduler/api/problem.h"
#include "scheduler/api/sign_in.h"
#include "scheduler/api/store_watch.h"
#include "scheduler/api/stream_hub.h"
#include "scheduler/api/tokens.h"
#include "scheduler/auth/roles.h"

namespace carillon::scheduler {

// What a handler adds to the audit's record of what it did.
struct AuditNote {
  std::string reason = {};        // before the words of the caller
  std::string changes_json = {};  // of the object's members
  std::string object_id = {};     // where neither the path nor what was made says it
  bool told = false;              // the handler recorded what it did itself
};

// One request on its way through a handler.
struct Call {
  const ApiContext& api;
  Identifiers& identifiers;
  StoreWatch& store;
  StreamHub& streams;
  LogReads& log_reads;
  ChangeWatch& changes;
  Authenticator& authenticator;
  SignIn& sign_in;
  const std::function<void()>& nudge_bulk;  // after a bulk action was made; must not block
  const HttpRequest& request;
  Caller caller;
  std::vector<std::string> arguments;  // what the {} of the path stand for, decoded
  std::string_view trace_id;
  AuditNote& note;
  bool owns_all = false;          // the permission of the route reaches beyond what is the caller's
  std::string idempotency_key;    // empty = none
  std::string idempotency_scope;  // of the key
};

// Whether Idempotency-Key is honoured.
enum class Keyed {
  kNo,
  kYes,
  kInWrite,  // a handler that succeeds has kept the answer in the transaction of its write
};

// What the first {} of the path names: somebody's, when
// the caller's permission reaches only to his own.
enum class Owned { kNothing, kJob, kRun, kDeadLetter, kToken, kSecret, kBulk };

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/jobs/{}/history"
  Permission permission;
  Keyed keyed;
  Reply (*handler)(const Call& call);
  std::string_view action = {};  // of the audit; empty: nothing is changed, or the handler tells it
  Owned owned = Owned::kNothing;
  // Served though the store is not trusted; every other write is refused then.
  bool on_any_store = false;
  // The handler reads the query of a write; of others it has to be empty.
  bool with_query = false;
};

// Every route below /api, in the order of docs/api.md.
const std::vector<Route>& RouteTable();

struct RouteMatch {
  const Route* route = nullptr;  // null: no route for this method (or at all)
  std::vector<std::string> arguments;
  std::string allow;  // methods of the path, empty when the path is unknown
};
// HEAD is served as GET.
RouteMatch MatchRoute(std::string_view method, const std::vector<std::string>& segments);

}  // namespace carillon::scheduler
