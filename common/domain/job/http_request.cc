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
#include "common/domain/template/template_text.h"

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
constexpr std::array<std::string_view, 4> kReservedHeaders = {"content-length", "transfer-encoding",
                                                              "connection", "expect"};
constexpr std::string_view kHost = "host";

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

void CheckUrl(const std::string& pointer, const std::string& url, Mistakes& mistakes) {
  if (!mistakes.CheckText(pointer, url, kHttpUrlBytesMax)) return;
  const Status checked = CheckHttpUrl(url);
  if (!checked.ok()) mistakes.Note(pointer, checked.error().message);
}

// A template as it is rendered, with a digit in the place of each placeholder: it fits into names
// and ports.
struct ImaginedText {
  std::string text = {};
  std::optional<size_t> first = {};  // where the first placeholder was
  bool names_secret = false;
};

// Of a text that is not closed, the part before that, which ValidateTemplates refuses.
ImaginedText Imagine(std::string_view text) {
  ImaginedText imagined;
  const Status scanned = ScanTemplate(
      text, [&](std::string_view part) { imagined.text += part; },
      [&](std::string_view name) {
        if (!imagined.first) imagined.first = imagined.text.size();
        imagined.text += '1';
        imagined.names_secret = imagined.names_secret || !SecretPlaceholder(name).empty();
        return Status();
      });
  static_cast<void>(scanned.ok());
  return imagined;
}

// A template is checked again once it is rendered.
void CheckSendable(const std::string& pointer, const std::string& url, Mistakes& mistakes) {
  const ImaginedText imagined = Imagine(url);
  const size_t host_end = imagined.text.find_first_of("/?#", imagined.text.find("://") + 3);
  const bool decides = imagined.first && *imagined.first < host_end;
  // An address may be inserted between the brackets.
  if (decides && url.find('[') != std::string::npos) return;
  const auto sent = SendableUrl(imagined.text);
  if (!sent.ok()) return mistakes.Note(pointer, sent.error().message);
  if (imagined.first || sent->size() <= kHttpUrlBytesMax) return;
  mistakes.Note(pointer, fmt::format("has {} bytes when it is percent-encoded; at most {} are sent",
                                     sent->size(), kHttpUrlBytesMax));
}

void CheckCertificate(const std::string& certificate, Mistakes& mistakes) {
  const std::string pointer = "/http/client_certificate";
  if (certificate.empty()) return;
  if (!mistakes.CheckText(pointer, certificate, kHttpHeaderBytesMax)) return;
  // The key would be stored in clear.
  if (certificate.find("PRIVATE KEY-") != std::string::npos || !Imagine(certificate).names_secret) {
    mistakes.Note(pointer,
                  "must name the secret with the PEM of the certificate and its key, such "
                  "as {{secrets.CLIENT_PEM}}");
  }
}

void CheckHost(const std::string& pointer, const std::string& value, Mistakes& mistakes) {
  const ImaginedText imagined = Imagine(value);
  if (imagined.names_secret) {
    return mistakes.Note(pointer, "names a secret, which no host is");
  }
  const Status host = CheckHostHeader(imagined.text);
  if (!host.ok()) mistakes.Note(pointer, host.error().message);
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
    if (!mistakes.CheckText(pointer, value, kHttpHeaderBytesMax)) continue;
    if (HasControl(value)) mistakes.Note(pointer, "contains a control character");
    if (lower == kHost) CheckHost(pointer, value, mistakes);
  }
}

// Returns false if it is none.
bool CheckPointer(const std::string& place, const std::string& pointer, Mistakes& mistakes) {
  if (!mistakes.CheckText(place, pointer, kPointerBytesMax)) return false;
  if (pointer.empty() || pointer.front() == '/') return true;
  mistakes.Note(place, "is not a JSON pointer such as /status or /items/0/name");
  return false;
}

void CheckValue(const std::string& place, const ExpectedValue& value, Mistakes& mistakes) {
  const auto* text = value ? std::get_if<std::string>(&*value) : nullptr;
  if (text != nullptr) mistakes.CheckText(place, *text, kContainsBytesMax);
}

void CheckPoll(const HttpPoll& poll, Mistakes& mistakes) {
  if (!poll.url.empty()) CheckUrl("/http/poll/url", poll.url, mistakes);
  CheckPointer("/http/poll/url_at", poll.url_at, mistakes);
  mistakes.CheckRange("/http/poll/interval", poll.interval_s, 1, kHttpPollIntervalMax_s);
  mistakes.CheckCount("/http/poll/until", poll.until.size(), kHttpExpectMax);
  for (const auto& [pointer, values] : poll.until) {
    const std::string place = "/http/poll/until/" + EscapePointer(pointer);
    CheckPointer(place, pointer, mistakes);
    if (values.empty()) mistakes.Note(place, "has no value to wait for");
    mistakes.CheckCount(place, values.size(), kHttpExpectMax);
    for (const ExpectedValue& value : values) CheckValue(place, value, mistakes);
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
    if (CheckPointer(place, pointer, mistakes)) CheckValue(place, value, mistakes);
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

std::vector<Error> FindHttpCallMistakes(const HttpDefinition& http) {
  Mistakes mistakes;
  if (http.url.empty()) {
    mistakes.Note("/http/url", "an http job needs a URL");
  } else {
    CheckUrl("/http/url", http.url, mistakes);
  }
  CheckHeaders(http, mistakes);
  mistakes.CheckText("/http/body", http.body, kHttpBodyBytesMax);
  CheckExpect(http.expect, http.method, mistakes);
  mistakes.CheckRange("/http/follow", http.follow, 0, kHttpFollowMax);
  mistakes.CheckRange("/http/connect_timeout", http.connect_timeout_s, 1, kHttpConnectTimeoutMax_s);
  if (http.poll) CheckPoll(*http.poll, mistakes);
  return mistakes.Take();
}

std::vector<Error> FindHttpMistakes(const HttpDefinition& http) {
  std::vector<Error> mistakes = FindHttpCallMistakes(http);
  if (!mistakes.empty()) return mistakes;
  Mistakes further;
  CheckSendable("/http/url", http.url, further);
  if (http.poll && !http.poll->url.empty()) {
    CheckSendable("/http/poll/url", http.poll->url, further);
  }
  if (http.poll && !http.poll->url_at.empty() && http.method == HttpMethod::kHead) {
    further.Note("/http/poll/url_at", "a response to HEAD has no body");
  }
  CheckCertificate(http.client_certificate, further);
  return further.Take();
}

bool NeedsHttpExtended(const HttpDefinition& http) {
  return http.poll || !http.client_certificate.empty() ||
         std::ranges::any_of(http.headers,
                             [](const auto& one) { return LowerCase(one.first) == kHost; }) ||
         std::ranges::any_of(http.expect.json, [](const auto& one) { return !one.second; });
}

}  // namespace carillon
