// Requests and responses as Carillon sees them; no vendor's types.
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

// What is wrong with a request that was readable as HTTP. The handler decides when to say so (after
// it knows the caller).
enum class HttpDefect {
  kNone,
  kTargetTooLong,  // path and query are not decoded
  kBadTarget,      // escapes, control characters, UTF-8; path and query are empty
  kBodyTooLarge,   // body is empty
  // The connection ends with the answer to these:
  kBadHeader,      // a name that is none, as "Length " is
  kBadHost,        // HTTP/1.1 without Host, or with two
  kUnknownCoding,  // Transfer-Encoding that is not "chunked" alone
};

// True for what makes it uncertain where the request ends, or whose it is.
constexpr bool EndsConnection(HttpDefect defect) { return defect >= HttpDefect::kBadHeader; }

struct HttpRequest {
  std::string method;                 // "GET", upper case
  std::string target;                 // as sent
  std::vector<std::string> segments;  // of the path, percent-decoded: "/a/b%2Fc" -> "a", "b/c"
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
  HttpHeaders headers;                                     // names in lower case, in order
  std::string body;
  std::string peer;  // address and port; behind a trusted proxy of who asked it, with port 0
  HttpDefect defect = HttpDefect::kNone;

  // The first header of that (lower-case) name, or null.
  const std::string* Header(std::string_view name) const;
  size_t CountHeader(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;  // Content-Length, Connection and Date are the server's
  std::string body;
  // An answer without an end of its own: called once the head is on its way, on a worker, with
  // where to write. `body` goes first. Of a HEAD it is not called.
  std::function<void(std::shared_ptr<HttpStream>)> stream = {};
};

// "Not Found"; "Unknown" for codes without a phrase here.
std::string_view ReasonPhrase(int status);

// A token of RFC 9110, 5.6.2.
bool IsHeaderName(std::string_view name);

}  // namespace carillon
