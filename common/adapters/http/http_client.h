// An HTTP client on libcurl: one request at a time, connections are reused.
//
// Threads  One owner. Send() blocks for at most total_timeout.
// Errors   kUnavailable: nothing reached the server. kTimeout: the request was sent, but no
//          complete response arrived (the outcome of a write is unknown). kExhausted: the response
//          is longer than response_bytes_max. kInvalid: the URL or ca_file is invalid. A response
//          with any status counts as success here.
// Always   Follows no redirect, reads no proxy from the environment, supports http and https only;
//          https requires TLS 1.2 and a trusted certificate that matches the requested host name.
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
  std::string ca_file = {};  // PEM, CAs trusted for servers; empty = the system's
  std::string proxy = {};    // "http://host:port", for hosts beyond loopback; empty = none
  // Once `*stopped` is true, a Send in progress ends within about a second, as if no response had
  // arrived. Null = not used. Must outlive the client.
  const std::atomic<bool>* stopped = nullptr;
};

struct HttpClientRequest {
  std::string method = "GET";
  std::string url;      // absolute
  HttpHeaders headers;  // kInvalid if a value has control characters
  // Sent with any method. An empty body is sent only with POST, PUT and PATCH.
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(const HttpClientOptions& options = {});
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // The header names of the response are in lower case.
  Result<HttpResponse> Send(const HttpClientRequest& request);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace carillon
