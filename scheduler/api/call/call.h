// One request on its way through a handler.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/adapters/http/http_message.h"
#include "scheduler/api/call/identifiers.h"
#include "scheduler/api/context/api_context.h"
#include "scheduler/api/http/problem.h"
#include "scheduler/auth/authenticator.h"
#include "scheduler/auth/sign_in.h"
#include "scheduler/streams/change_watch.h"
#include "scheduler/streams/store_probe.h"
#include "scheduler/streams/stream_hub.h"

namespace carillon::scheduler {

class LogReads;
class Routes;

// What a handler adds to the audit record of its action.
struct AuditNote {
  std::string reason = {};        // before the reason of the caller
  std::string changes_json = {};  // of the fields of the object
  std::string object_id = {};     // if neither the path nor the reply has it
  bool told = false;              // the handler wrote its own records
};

struct Call {
  const Routes& routes;  // for handlers that call another route for the caller
  const ApiContext& api;
  Identifiers& identifiers;
  StoreProbe& store;
  StreamHub& streams;
  LogReads& log_reads;
  ChangeWatch& changes;
  Authenticator& authenticator;
  SignIn& sign_in;
  const std::function<void()>& nudge_bulk;  // after a bulk action was created; must not block
  const HttpRequest& request;
  Caller caller;
  std::vector<std::string> arguments;  // the values of the {} in the path, decoded
  std::string_view trace_id;
  AuditNote& note;
  bool owns_all = false;          // the permission covers objects of other users
  std::string idempotency_key;    // empty = none
  std::string idempotency_scope;  // of the key
};

}  // namespace carillon::scheduler
