// Calls of the REST API with fail-over between a cluster's members.
//
// Threads  One owner. A call blocks for at most the transport's timeout per address.
// Always   A request that may have been executed is sent to another member only if executing it
//          again is harmless: GET, or a POST with an Idempotency-Key.
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
  // Same errors as HttpClient.
  virtual Result<HttpResponse> Send(const HttpClientRequest& request) = 0;
};
// `ca_file` as in HttpClientOptions.
std::unique_ptr<Transport> MakeHttpTransport(const std::string& ca_file);

using Parameters = std::vector<std::pair<std::string, std::string>>;

// A request to the REST API.
struct ApiRequest {
  std::string method = "GET";
  std::string path = {};  // "/api/jobs"; segments already escaped
  Parameters query = {};
  std::optional<nlohmann::json> body = {};
  std::string raw_body = {};  // sent unchanged, instead of `body`
  std::string if_match = {};
  bool idempotent = false;  // the route honours Idempotency-Key: send one
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

  // The response of the first member that answers. Status 400 and above is a Failure.
  Outcome<ApiResponse> Call(const ApiRequest& request);
  // The same, but every status counts as success.
  Outcome<ApiResponse> CallRaw(const ApiRequest& request);

  const Target& target() const { return target_; }
  // Applies to later calls.
  void SetToken(const std::string& token) { target_.token = token; }

 private:
  std::string NewKey();

  Target target_;
  const std::unique_ptr<Transport> transport_;
  Rng rng_;
  size_t current_ = 0;  // the member that answered last
};

// True if `message` ends with this detail of a problem, whatever the case of its first letter.
bool RepeatsDetail(std::string_view message, std::string_view detail);
Failure FailureOf(const ApiResponse& response);

// One path segment or query value, percent-encoded.
std::string Escape(std::string_view text);

}  // namespace carillon::cli
