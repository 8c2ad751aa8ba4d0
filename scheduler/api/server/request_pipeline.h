// Processes an API request: trace, route, caller, permission, limits, idempotency, handler, answer.
//
// Threads  Handle is called on several workers at once.
// Always   Without a valid token every well-formed HTTP request is answered 401, even if something
//          else is wrong with it. No token is needed for:
//          - the files and pages of the console;
//          - /livez and /readyz;
//          - the OpenAPI documents;
//          - the routes with the permission kAnyone.
//          Permissions are checked here, with the table of routes. Handlers check only what
//          the body requests.
#pragma once

#include "common/adapters/http/http_server.h"
#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "scheduler/api/bulk/route_item_runner.h"
#include "scheduler/api/call/route.h"
#include "scheduler/api/logs/log_reads.h"
#include "scheduler/api/server/console_pages.h"
#include "scheduler/auth/rate_limit.h"
#include "scheduler/events/open_runs.h"

namespace carillon::scheduler {

class ApiHandler : public HttpHandler {
 public:
  // `workers` is the number of workers of the server that calls Handle.
  ApiHandler(const ApiContext& context, size_t workers);

  HttpResponse Handle(const HttpRequest& request) override;
  HttpResponse Overloaded(const HttpRequest& request) override;
  // True for requests for the status and the console. They show what is wrong, so they must be
  // answered even while requests that need the store hang.
  bool Urgent(const HttpRequest& request) const override;
  // Ends all streams. Call it before the server stops.
  void StopStreams();
  // Call it after the server has stopped. After the return nothing of the context is used.
  void Stop();

 private:
  // Facts about a request that are logged and counted with its answer.
  struct Trace {
    std::string id;
    // Labels of the metrics. The method comes from the route and not from the request, because
    // clients can send any text as a method.
    std::string_view route = "unmatched";
    std::string_view method = "other";
  };

  Reply Serve(const HttpRequest& request, Trace& trace);
  // Answers /livez and /readyz. Refuses paths with similar names. No token is needed.
  Reply AnswerProbe(const HttpRequest& request, Trace& trace) const;
  Outcome<Caller> Identify(const HttpRequest& request);
  // Returns the problem 429 if the request exceeds the rate limit.
  std::optional<Problem> Admit(RateLimit& limit, const std::string& who);
  std::optional<Problem> AdmitAddress(RateLimit& limit, const HttpRequest& request);
  Reply Dispatch(const Route& route, Call& call);
  // Writes the audit record of a successful action.
  void Audit(const Route& route, const Call& call, const HttpResponse& done);
  HttpResponse Finish(const HttpRequest& request, const Trace& trace, Reply reply);
  Call CallOf(const HttpRequest& request, const Caller& caller, std::string_view trace_id,
              AuditNote& note);
  HttpResponse Seal(const HttpRequest& request, const Trace& trace, HttpResponse response);

  const ApiContext context_;
  Identifiers identifiers_;
  BoundedCall aside_;  // makes the look-ups of credentials
  Authenticator authenticator_;
  SignIn sign_in_;
  Mutex rates_mu_;
  RateLimit account_rate_ GUARDED_BY(rates_mu_);
  RateLimit address_rate_ GUARDED_BY(rates_mu_);
  // Limits, for each address, the look-ups of unknown credentials in the store.
  RateLimit lookup_rate_ GUARDED_BY(rates_mu_);
  StoreProbe probe_;
  ChangeWatch changes_;  // declared before the streams that use it
  StreamHub streams_;
  LogReads log_reads_;
  OpenEventRuns open_event_runs_;
  LoopRunner stream_loop_;
  RouteItemRunner bulk_item_runner_;
  BulkWorker bulk_;
  const std::function<void()> nudge_bulk_;
  const ConsolePages console_;
  const Services services_;
  LoopRunner bulk_loop_;  // declared last, because the loop uses the objects above
};

}  // namespace carillon::scheduler
