// Requests and responses in our own types, independent of any vendor.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/adapters/http/http_stream.h"

namespace carillon {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// A defect of a request that was readable as HTTP. The handler decides when to report it (after it
// has identified the caller).
enum class HttpDefect {
  kNone,
  kTargetTooLong,  // path and query are not decoded
  kBadTarget,      // escapes, control characters, UTF-8; path and query are empty
  kBodyTooLarge,   // body is empty
  // After the response to one of the following defects, the connection is closed.
  kBadHeader,      // an invalid name, such as "Length "
  kBadHost,        // HTTP/1.1 without Host, or two Host headers
  kUnknownCoding,  // Transfer-Encoding other than "chunked" alone
};

// True if the connection must be closed after the response, because the end of the request or its
// target host is uncertain.
constexpr bool EndsConnection(HttpDefect defect) { return defect >= HttpDefect::kBadHeader; }

// A received request.
struct HttpRequest {
  std::string method;                 // "GET", upper case
  std::string target;                 // as sent
  std::vector<std::string> segments;  // the path, percent-decoded: "/a/b%2Fc" -> "a", "b/c"
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  HttpHeaders headers;                                     // names in lower case, in order
  std::string body;
  // Address and port of the connection; behind a trusted proxy the client's address, with port 0.
  std::string peer;
  HttpDefect defect = HttpDefect::kNone;

  // Returns the first header with this name (lower case), or null.
  const std::string* Header(std::string_view name) const;
  size_t CountHeader(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;  // the server adds Content-Length, Connection, Date
  std::string body;
  // For a response of unknown length: called on a worker, once the head is being sent, with the
  // stream to write to. `body` is sent first. Not called for HEAD.
  std::function<void(std::shared_ptr<HttpStream>)> stream = {};
};

// Returns the phrase of a status, such as "Not Found"; "Unknown" if it has none.
std::string_view ReasonPhrase(int status);

// True for a token of RFC 9110, 5.6.2.
bool IsHeaderName(std::string_view name);

}  // namespace carillon
