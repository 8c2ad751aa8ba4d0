#include "common/domain/job/http_request.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "common/base/lower_case.h"
#include "common/domain/enum_names.h"
#include "common/domain/job_text.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<HttpMethod>, 7> kMethods{{{HttpMethod::kGet, "GET"},
                                                      {HttpMethod::kHead, "HEAD"},
                                                      {HttpMethod::kPost, "POST"},
                                                      {HttpMethod::kPut, "PUT"},
                                                      {HttpMethod::kPatch, "PATCH"},
                                                      {HttpMethod::kDelete, "DELETE"},
                                                      {HttpMethod::kOptions, "OPTIONS"}}};
constexpr int kStatusMin = 100;
constexpr int kStatusMax = 599;
constexpr size_t kContainsBytesMax = 8'192;
constexpr size_t kRegexBytesMax = 1'024;
constexpr size_t kPointerBytesMax = 1'024;
constexpr std::string_view kContentType = "content-type";
// They say where the request goes and where it ends, which libcurl decides.
constexpr std::array<std::string_view, 5> kReservedHeaders = {"content-length", "transfer-encoding",
                                                              "connection", "host", "expect"};

std::optional<int> ReadStatus(std::string_view text) {
  int status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || status < kStatusMin || status > kStatusMax) return std::nullopt;
  return status;
}

// Collects mistakes with their pointers.
class Mistakes {
 public:
  void Note(std::string pointer, std::string why) {
    all_.push_back(InvalidAt(std::move(pointer), std::move(why)));
  }
  // Returns false if the text is not UTF-8 without NUL, or too long.
  bool CheckText(const std::string& pointer, std::string_view text, size_t bytes_max) {
    std::string fault = TextFault(text, bytes_max);
    if (fault.empty()) return true;
    Note(pointer, std::move(fault));
    return false;
  }
  void CheckCount(const std::string& pointer, size_t count, size_t most) {
    if (count <= most) return;
    Note(pointer, fmt::format("has {} entries; at most {} are allowed", count, most));
  }
  void CheckRange(const std::string& pointer, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return;
    Note(pointer, fmt::format("is {}; it must be from {} to {}", value, least, most));
  }
  std::vector<Error> Take() { return std::move(all_); }

 private:
  std::vector<Error> all_;
};

bool HasControl(std::string_view text) { return std::any_of(text.begin(), text.end(), IsControl); }

void CheckUrl(const std::string& url, Mistakes& mistakes) {
  const std::string pointer = "/http/url";
  if (url.empty()) return mistakes.Note(pointer, "an http job needs a URL");
  if (!mistakes.CheckText(pointer, url, kHttpUrlBytesMax)) return;
  const Status checked = CheckHttpUrl(url);
  if (!checked.ok()) mistakes.Note(pointer, checked.error().message);
}

void CheckHeaders(const HttpDefinition& http, Mistakes& mistakes) {
  mistakes.CheckCount("/http/headers", http.headers.size(), kHttpHeadersMax);
  std::set<std::string> names;
  for (const auto& [name, value] : http.headers) {
    const std::string pointer = "/http/headers/" + EscapePointer(name);
    const std::string lower = LowerCase(name);
    if (!IsHttpToken(name)) {
      mistakes.Note(pointer, "is not the name of a header");
      continue;
    }
    if (std::find(kReservedHeaders.begin(), kReservedHeaders.end(), lower) !=
        kReservedHeaders.end()) {
      mistakes.Note(pointer, "is set by Carillon itself");
    }
    if (!names.insert(lower).second) {
      mistakes.Note(pointer, "stands twice; the names of headers have no case");
    }
    if (mistakes.CheckText(pointer, value, kHttpHeaderBytesMax) && HasControl(value)) {
      mistakes.Note(pointer, "contains a control character");
    }
  }
}

void CheckExpect(const HttpExpect& expect, HttpMethod method, Mistakes& mistakes) {
  const std::string status = "/http/expect/status";
  if (expect.status.empty()) mistakes.Note(status, "is empty; write [\"2xx\"] for success");
  mistakes.CheckCount(status, expect.status.size(), kHttpExpectMax);
  for (size_t i = 0; i < expect.status.size(); ++i) {
    const auto range = ParseHttpStatusRange(expect.status[i]);
    if (!range.ok()) mistakes.Note(fmt::format("{}/{}", status, i), range.error().message);
  }
  mistakes.CheckText("/http/expect/contains", expect.contains, kContainsBytesMax);
  if (mistakes.CheckText("/http/expect/regex", expect.regex, kRegexBytesMax)) {
    const RE2 regex(expect.regex, RE2::Quiet);
    if (!regex.ok()) mistakes.Note("/http/expect/regex", regex.error());
  }
  mistakes.CheckCount("/http/expect/json", expect.json.size(), kHttpExpectMax);
  for (const auto& [pointer, value] : expect.json) {
    const std::string place = "/http/expect/json/" + EscapePointer(pointer);
    if (!mistakes.CheckText(place, pointer, kPointerBytesMax)) continue;
    if (!pointer.empty() && pointer.front() != '/') {
      mistakes.Note(place, "is not a JSON pointer such as /status or /items/0/name");
    }
    if (const auto* text = std::get_if<std::string>(&value)) {
      mistakes.CheckText(place, *text, kContainsBytesMax);
    }
  }
  if (method == HttpMethod::kHead && expect.LooksAtBody()) {
    mistakes.Note("/http/expect", "a response to HEAD has no body");
  }
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string JsonEscaped(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      escaped += '\\';
      escaped += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string_view Name(HttpMethod value) { return NameIn(kMethods, value); }
Result<HttpMethod> ParseHttpMethod(std::string_view text) { return ValueIn(kMethods, text); }

Result<HttpStatusRange> ParseHttpStatusRange(std::string_view text) {
  const Error wrong{
      ErrorCode::kInvalid,
      fmt::format("'{}' is not a status such as 404, 200-204 or 5xx", text.substr(0, 64))};
  if (text.size() == 3 && text.ends_with("xx") && text[0] >= '1' && text[0] <= '5') {
    const int hundreds = (text[0] - '0') * 100;
    return HttpStatusRange{hundreds, hundreds + 99};
  }
  const size_t dash = text.find('-');
  const auto first = ReadStatus(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : ReadStatus(text.substr(dash + 1));
  if (!first || !last || *first > *last) return wrong;
  return HttpStatusRange{*first, *last};
}

BodyFormat BodyFormatOf(std::string_view content_type) {
  const std::string type = LowerCase(content_type.substr(0, content_type.find(';')));
  if (type.find("json") != std::string::npos) return BodyFormat::kJson;
  if (type.starts_with("application/x-www-form-urlencoded")) return BodyFormat::kForm;
  return BodyFormat::kPlain;
}

std::string EscapeFor(BodyFormat format, std::string_view value) {
  switch (format) {
    case BodyFormat::kJson: return JsonEscaped(value);
    case BodyFormat::kForm: return PercentEncoded(value);
    case BodyFormat::kPlain: break;
  }
  return std::string(value);
}

std::string_view ContentTypeOf(const std::map<std::string, std::string>& headers) {
  for (const auto& [name, value] : headers) {
    if (LowerCase(name) == kContentType) return value;
  }
  return kHttpBodyType;
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return encoded;
}

bool IsHttpToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto fits = [&](char c) {
    return (IsUnreserved(c) && c != '~') || kMarks.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), fits);
}

Status CheckHttpUrl(std::string_view url) {
  const auto wrong = [](std::string why) -> Status {
    return {ErrorCode::kInvalid, std::move(why)};
  };
  const size_t scheme = url.starts_with("https://") ? 8 : url.starts_with("http://") ? 7 : 0;
  if (scheme == 0) return wrong("must begin with http:// or https://");
  if (HasControl(url)) return wrong("contains a control character");
  const std::string_view host = url.substr(scheme, url.find_first_of("/?#", scheme) - scheme);
  if (host.empty()) return wrong("has no host");
  // It would be stored and logged in clear.
  if (host.find('@') != std::string_view::npos) {
    return wrong("must not contain a user or a password; use a header with a secret");
  }
  return {};
}

std::vector<Error> FindHttpMistakes(const HttpDefinition& http) {
  Mistakes mistakes;
  CheckUrl(http.url, mistakes);
  CheckHeaders(http, mistakes);
  mistakes.CheckText("/http/body", http.body, kHttpBodyBytesMax);
  CheckExpect(http.expect, http.method, mistakes);
  mistakes.CheckRange("/http/follow", http.follow, 0, kHttpFollowMax);
  mistakes.CheckRange("/http/connect_timeout", http.connect_timeout_s, 1, kHttpConnectTimeoutMax_s);
  return mistakes.Take();
}

}  // namespace carillon
