// The request of a job of type http, and the responses that count as success. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/domain/job/http_url.h"
#include "common/domain/schedule/schedule_spec.h"
#include "common/domain/secret_text.h"

namespace carillon {

enum class HttpMethod { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions };
// "GET", …
std::string_view Name(HttpMethod value);
Result<HttpMethod> ParseHttpMethod(std::string_view text);

// A range of statuses: "404", "200-204" or "5xx".
struct HttpStatusRange {
  int first = 0;
  int last = 0;

  bool Has(int status) const { return status >= first && status <= last; }
  bool operator==(const HttpStatusRange&) const = default;
};
// kInvalid: not such a text, or outside 100 to 599.
Result<HttpStatusRange> ParseHttpStatusRange(std::string_view text);

// A value in a JSON document; nullopt: null.
using ExpectedValue = std::optional<ParameterValue>;

// All conditions must hold.
struct HttpExpect {
  std::vector<std::string> status = {"2xx"};  // 1-16 ranges, of which one must match
  std::string contains = {};                  // a part of the body, <= 8,192 bytes; "" = any body
  std::string regex = {};                     // RE2, found somewhere in the body, <= 1,024 bytes
  std::map<std::string, ExpectedValue> json = {};  // values by their JSON pointer, <= 16

  bool LooksAtBody() const { return !contains.empty() || !regex.empty() || !json.empty(); }
  bool operator==(const HttpExpect&) const = default;
};

// The wait for work that the server has only accepted: its status is asked for with GET while a
// response has the status 202, or not yet a value of `until`.
struct HttpPoll {
  std::string url = {};     // a template without secrets; "" = the Location of the response
  std::string url_at = {};  // JSON pointer of the URL in the response, which is relative to `url`
  int64_t interval_s = 10;  // 1-3,600
  // By JSON pointer, <= 16: the values of which one stands there at the end, 1-16 each.
  std::map<std::string, std::vector<ExpectedValue>> until = {};

  bool operator==(const HttpPoll&) const = default;
};

struct HttpDefinition {
  HttpMethod method = HttpMethod::kGet;
  std::string url = {};                             // 1-8,192 bytes, a template without secrets
  std::map<std::string, std::string> headers = {};  // <= 64 templates of <= 8,192 bytes
  std::string body = {};                            // a template of <= 262,144 bytes
  HttpExpect expect = {};
  int64_t follow = 0;              // 0-5 redirects
  int64_t connect_timeout_s = 10;  // 1-60
  bool tls_verify = true;          // false: any certificate is accepted
  // PEM of the certificate and its key that are shown to the server: a template that names secrets.
  std::string client_certificate = {};
  std::optional<HttpPoll> poll = {};

  bool operator==(const HttpDefinition&) const = default;
};

inline constexpr size_t kHttpHeadersMax = 64;
inline constexpr size_t kHttpHeaderBytesMax = 8'192;
// Not more, because a record of the bus with a whole task has at most 1 MiB.
inline constexpr size_t kHttpBodyBytesMax = 256u << 10;
inline constexpr size_t kHttpExpectMax = 16;
inline constexpr int64_t kHttpPollIntervalMax_s = 3'600;
inline constexpr int64_t kHttpFollowMax = 5;
inline constexpr int64_t kHttpConnectTimeoutMax_s = 60;

// The request of one attempt: the templates are rendered, except for secrets.
struct HttpCall {
  HttpMethod method = HttpMethod::kGet;
  std::string url = {};
  SecretVariables headers = {};
  SecretText body = {};
  HttpExpect expect = {};
  int64_t follow = 0;
  int64_t connect_timeout_s = 10;
  bool tls_verify = true;
  SecretText client_certificate = {};
  std::optional<HttpPoll> poll = {};

  bool operator==(const HttpCall&) const = default;
};

// The form in which values are inserted into a body, by its Content-Type.
enum class BodyFormat { kPlain, kJson, kForm };
// Without a Content-Type, a body is JSON.
inline constexpr std::string_view kHttpBodyType = "application/json";
BodyFormat BodyFormatOf(std::string_view content_type);
// `value` as a part of a JSON string, percent-encoded, or unchanged.
std::string EscapeFor(BodyFormat format, std::string_view value);
// The value of the header, by its name in any case; `otherwise` if it is missing.
std::string_view ContentTypeOf(const std::map<std::string, std::string>& headers);

// Everything but unreserved characters is escaped.
std::string PercentEncoded(std::string_view text);
// True for a name of RFC 9110, 5.6.2.
bool IsHttpToken(std::string_view text);

// The mistakes of a request, each with a pointer such as "/http/url". The placeholders are checked
// by ValidateTemplates.
std::vector<Error> FindHttpMistakes(const HttpDefinition& http);
// The mistakes for which an executor refuses a request. A URL that cannot be sent is none of them:
// only its own run fails.
std::vector<Error> FindHttpCallMistakes(const HttpDefinition& http);
// True if only executors with Feature::kHttpExtended send the request as it is meant.
bool NeedsHttpExtended(const HttpDefinition& http);

}  // namespace carillon
