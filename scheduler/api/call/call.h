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
  std::string reason = {};        // precedes the caller's reason
  std::string changes_json = {};  // of the fields of the object
  std::string object_id = {};     // set if neither the path nor the reply has it
  bool told = false;              // the handler wrote its own records
};

// The objects of the API server that handlers use beside the stores. The references live at least
// until the handler returns.
struct Services {
  const Routes& routes;                     // for handlers that call another route for the caller
  Identifiers& identifiers;                 // generates job ids
  StoreProbe& probe;                        // reads of the store with a bounded wait
  StreamHub& streams;                       // for answers that are live streams
  LogReads& log_reads;                      // limits reads of long logs
  ChangeWatch& changes;                     // the source of change streams
  Authenticator& authenticator;             // to issue tokens and drop cached credentials
  SignIn& sign_in;                          // hashes passwords, limits attempts
  const std::function<void()>& nudge_bulk;  // call it after creating a bulk action; never blocks
};

// The argument of every handler: a request, its caller, and what it may use to answer.
struct Call {
  const Stores& stores;
  const ApiContext& api;  // the member: cluster time, nudges, settings, configuration
  const Services& services;
  const HttpRequest& request;
  Caller caller;                       // kNobody on routes with the permission kAnyone
  std::vector<std::string> arguments;  // the values of the {} in the path, decoded
  std::string_view trace_id;           // of this request, for records and problems
  AuditNote& note;                     // filled by the handler
  bool owns_all = false;               // the permission covers objects of other users
  std::string idempotency_key;         // empty = none
  std::string idempotency_scope;       // in which the key is unique: caller, route and path
};

}  // namespace carillon::scheduler
