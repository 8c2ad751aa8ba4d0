// Calls of the REST API with fail-over between a cluster's members.
//
// Threads  Not thread-safe. A call blocks for at most the transport's timeout per address.
// Always   If a request may have been executed, it is sent to another member only if a second
//          execution is harmless: GET, HEAD, or a request with an Idempotency-Key, or that says so.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/client/outcome.h"
#include "cli/client/target.h"
#include "common/adapters/http/http_client.h"
#include "common/base/rng.h"

namespace carillon::cli {

class Transport {
 public:
  virtual ~Transport() = default;
  // Errors: those of HttpClient.
  virtual Result<HttpResponse> Send(const HttpClientRequest& request) = 0;
};
// `ca_file`: see HttpClientOptions.
std::unique_ptr<Transport> MakeHttpTransport(const std::string& ca_file);

using Parameters = std::vector<std::pair<std::string, std::string>>;

// A request to the REST API.
struct ApiRequest {
  std::string method = "GET";
  std::string path = {};  // "/api/jobs"; its segments are already escaped
  Parameters query = {};
  std::optional<nlohmann::json> body = {};
  std::string raw_body = {};  // sent unchanged, instead of `body`
  std::string if_match = {};
  bool idempotent = false;  // true: sends an Idempotency-Key, which the route must support
  bool repeatable = false;  // true: without a key, a second execution does no harm either
  HttpHeaders headers = {};
};

struct ApiResponse {
  int status = 200;
  nlohmann::json body = nullptr;  // null if the response is not JSON
  std::string text = {};
  std::string etag = {};
  std::string set_cookie = {};
  HttpHeaders headers = {};  // names in lower case
};

class ApiClient {
 public:
  ApiClient(Target target, std::unique_ptr<Transport> transport, uint64_t seed);

  // Returns the response of the first member that answers. Status 400 and above is a Failure.
  Outcome<ApiResponse> Call(const ApiRequest& request);
  // Like Call, but a response with any status is a success.
  Outcome<ApiResponse> CallRaw(const ApiRequest& request);

  const Target& target() const { return target_; }
  // The new token applies to later calls.
  void SetToken(const std::string& token) { target_.token = token; }

 private:
  std::string NewKey();

  Target target_;
  const std::unique_ptr<Transport> transport_;
  Rng rng_;
  size_t current_ = 0;  // index in target_.urls of the member that answered last
};

// True if `message` ends with `detail`. The case of the first letter of `detail` does not matter.
bool RepeatsDetail(std::string_view message, std::string_view detail);
Failure FailureOf(const ApiResponse& response);

// Percent-encodes one path segment or query value.
std::string Escape(std::string_view text);

}  // namespace carillon::cli
