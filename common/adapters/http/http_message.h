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

// A defect of a request that was readable as HTTP. The handler reports the defect, because the
// handler must identify the caller first.
enum class HttpDefect {
  kNone,
  kTargetTooLong,  // `segments` and `query` stay empty
  // An invalid escape, a control character, or not UTF-8. `segments` and `query` stay empty.
  kBadTarget,
  kBodyTooLarge,  // `body` stays empty
  // After the response to one of the following defects, the connection is closed.
  kBadHeader,      // an invalid name, such as "Length "
  kBadHost,        // HTTP/1.1 without Host, or two Host headers
  kUnknownCoding,  // Transfer-Encoding other than "chunked" alone
};

// True if the connection must be closed after the response. The end of the request or its target
// host is then uncertain.
constexpr bool EndsConnection(HttpDefect defect) { return defect >= HttpDefect::kBadHeader; }

// A received request.
struct HttpRequest {
  std::string method;                 // "GET", upper case
  std::string target;                 // as sent
  std::vector<std::string> segments;  // the path, percent-decoded: "/a/b%2Fc" -> "a", "b/c"
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  HttpHeaders headers;                                     // names in lower case, in order
  std::string body;
  // Address and port of the connection. If a trusted proxy forwarded the request: the client's
  // address, with port 0.
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
  // Writes the rest of a response of unknown length. Called on a worker, with the stream to write
  // to, once the head is being sent. `body` is sent first. Not called for HEAD.
  std::function<void(std::shared_ptr<HttpStream>)> stream = {};
};

// Returns the phrase of a status, such as "Not Found"; "Unknown" for a status without a phrase.
std::string_view ReasonPhrase(int status);

// True if `name` is a token as defined in RFC 9110, section 5.6.2.
bool IsHeaderName(std::string_view name);

}  // namespace carillon
