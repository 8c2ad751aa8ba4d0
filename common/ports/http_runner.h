// Port from the executor's daemon to the servers that http jobs call. Requests belong to the
// daemon's process: they end with it, and the attempt is then lost. In the simulator the requests
// are in memory.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/job/http_request.h"
#include "common/ports/attempt_host.h"

namespace carillon {

// One request to make, with everything filled in.
struct StartHttp {
  HeldAttempt attempt;
  JobId job_id = {};
  HttpMethod method = HttpMethod::kGet;
  std::string url;
  std::map<std::string, std::string> headers;
  std::set<std::string> secret_headers = {};  // of `headers`: not sent to another origin
  std::string body;
  bool secret_body = false;
  HttpExpect expect;
  int64_t follow = 0;
  Duration connect_timeout = 10s;
  bool tls_verify = true;
  std::string client_certificate = {};  // PEM with the key: not shown to another origin
  std::optional<HttpPoll> poll = {};
  Duration timeout = 3600s;
  SteadyTime lease_end;            // CLOCK_BOOTTIME
  bool close_at_lease_end = true;  // false (on_lost is hold or fail): the request may finish
  size_t output_bytes_max = 64u << 10;
  std::vector<std::string> masked = {};  // values that output and log must not show
};

class HttpRunner : public AttemptHost {
 public:
  // Begins the request soon.
  virtual void Start(StartHttp start) = 0;
  // Closes the connection of the request, in both modes; the attempt ends as CANCELLED. What the
  // server did stays done.
  Status Cancel(const HeldAttempt& attempt, CancelMode mode) override = 0;
};

}  // namespace carillon
