// Argument of all handlers: a request, its caller, and the objects that handlers use to answer it.
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
class OpenEventRuns;
class Routes;

// The additions of a handler to the audit record of its action.
struct AuditNote {
  std::string reason = {};        // written before the caller's reason
  std::string changes_json = {};  // changes of the object's fields
  std::string object_id = {};     // set if the id is not in the path and not in the reply
  bool told = false;              // the handler has written all records itself
};

// The objects of the API server that handlers use in addition to the stores. The references stay
// valid at least until the handler returns.
struct Services {
  const Routes& routes;                     // for handlers that call another route for the caller
  Identifiers& identifiers;                 // generates job ids
  StoreProbe& probe;                        // reads of the store with a bounded wait
  StreamHub& streams;                       // for answers that are live streams
  LogReads& log_reads;                      // limits concurrent reads of long logs
  OpenEventRuns& open_event_runs;           // limits what events start
  ChangeWatch& changes;                     // the source of change streams
  Authenticator& authenticator;             // issues tokens and drops cached credentials
  SignIn& sign_in;                          // hashes passwords, limits attempts
  const std::function<void()>& nudge_bulk;  // call it after creating a bulk action; never blocks
};

// One request, as every handler gets it.
struct Call {
  const Stores& stores;
  const ApiContext& api;  // access to the member: cluster time, nudges, settings, configuration
  const Services& services;
  const HttpRequest& request;
  Caller caller;                       // kNobody on routes with the permission kAnyone
  std::vector<std::string> arguments;  // the values of the {} in the path, decoded
  std::string_view trace_id;           // of this request; used in records and problems
  AuditNote& note;                     // filled by the handler
  bool owns_all = false;               // the permission also covers objects of other users
  std::string idempotency_key;         // empty = none
  std::string idempotency_scope;       // caller, route and path; a key is unique within it
};

}  // namespace carillon::scheduler
