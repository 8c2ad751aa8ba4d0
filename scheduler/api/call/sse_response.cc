#include "scheduler/api/call/sse_response.h"

namespace carillon::scheduler {

std::string LastEventIdOf(const HttpRequest& request) {
  const std::string* header = request.Header("last-event-id");
  return header == nullptr ? std::string() : *header;
}

Reply EventStream(const Call& call, std::function<std::unique_ptr<StreamSource>()> make) {
  if (call.services.streams.IsFull()) {
    Problem problem{.status = 503,
                    .code = "too_many_streams",
                    .detail = "This member has reached its limit of event streams. Retry shortly."};
    problem.headers.emplace_back("Retry-After", "5");
    return problem;
  }
  HttpResponse response{.status = 200};
  response.headers = {{"Content-Type", "text/event-stream"}, {"X-Accel-Buffering", "no"}};
  response.body = "retry: 1000\n\n";
  StreamHub::Who who{.account = call.caller.Subject(),
                     .credential = call.caller.credential,
                     .stands = [&authenticator = call.services.authenticator,
                                caller = call.caller] { return authenticator.StillValid(caller); }};
  response.stream = [&streams = call.services.streams, who = std::move(who),
                     make = std::move(make)](std::shared_ptr<HttpStream> stream) {
    streams.Add(std::move(stream), make(), who);
  };
  return response;
}

}  // namespace carillon::scheduler
