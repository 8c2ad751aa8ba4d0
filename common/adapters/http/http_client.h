// An HTTP client over libcurl: one request at a time, connections kept between them.
//
// Threads  One owner. Send() blocks for at most total_timeout.
// Errors   kUnavailable: nothing reached the server. kTimeout: sent, but no whole answer (outcome
//          unknown for writes). kExhausted: the answer is longer than response_bytes_max.
//          kInvalid: the URL, or ca_file. Any status the server answers with is a success here.
// Always   Follows no redirect, uses no proxy, speaks http and https only; https with TLS 1.2 at
//          least, and with a server whose certificate is trusted and has the name that was asked.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/adapters/http/http_message.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

struct HttpClientOptions {
  Duration connect_timeout = 3s;
  Duration total_timeout = 30s;
  size_t response_bytes_max = 64u << 20;
  std::string ca_file = {};  // PEM, who signs servers' certificates; empty = the system's own
  // Once it is true a Send under way ends within a second or so, as one without an answer. Null =
  // nothing ends it. Outlives the client.
  const std::atomic<bool>* stopped = nullptr;
};

struct HttpClientRequest {
  std::string method = "GET";
  std::string url;      // absolute
  HttpHeaders headers;  // a value with a control character is refused (kInvalid)
  std::string body;     // sent for any method when not empty, and for POST, PUT and PATCH always
};

class HttpClient {
 public:
  explicit HttpClient(const HttpClientOptions& options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Header names of the answer are in lower case.
  Result<HttpResponse> Send(const HttpClientRequest& request);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace carillon
