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

// What a handler adds to the audit's record of what it did.
struct AuditNote {
  std::string reason = {};        // before the words of the caller
  std::string changes_json = {};  // of the object's members
  std::string object_id = {};     // where neither the path nor what was made says it
  bool told = false;              // the handler recorded what it did itself
};

struct Call {
  const Routes& routes;  // for what asks for another route in the caller's name
  const ApiContext& api;
  Identifiers& identifiers;
  StoreProbe& store;
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

}  // namespace carillon::scheduler
