#include "common/domain/template/http_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/base/lower_case.h"
#include "common/domain/job_text.h"
#include "common/domain/template/template_text.h"

namespace carillon {
namespace {

constexpr std::string_view kSchemeEnd = "://";
constexpr std::string_view kHostMarks = ".:-_[]";

// True if `url`, which begins with a scheme, has a part after its host.
bool IsPastHost(std::string_view url) {
  const size_t scheme = url.find(kSchemeEnd);
  return scheme != std::string_view::npos &&
         url.find_first_of("/?#", scheme + kSchemeEnd.size()) != std::string_view::npos;
}

bool IsHostText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kHostMarks.find(c) != std::string_view::npos;
  });
}

// True if a part of the path is "." or "..", which whoever sends the URL removes, with the part
// before it.
bool HasDotSegment(std::string_view url) {
  const size_t scheme = url.find(kSchemeEnd);
  if (scheme == std::string_view::npos) return false;
  const size_t host = scheme + kSchemeEnd.size();
  std::string_view path = url.substr(std::min(url.find('/', host), url.size()));
  path = path.substr(0, path.find_first_of("?#"));
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string segment = LowerCase(path.substr(0, path.find('/')));
    if (segment == "." || segment == ".." || segment == "%2e" || segment == "%2e%2e" ||
        segment == ".%2e" || segment == "%2e.") {
      return true;
    }
    path.remove_prefix(std::min(path.find('/'), path.size()));
  }
  return false;
}

Result<std::string> RenderUrl(std::string_view url, const TemplateValues& values) {
  std::string rendered;
  const auto add = [&](std::string_view text) { rendered += text; };
  const auto fill = [&](std::string_view name) -> Status {
    CARILLON_ASSIGN_OR_RETURN(const std::string value, values.Find(name));
    const bool past_host = IsPastHost(rendered);
    if (!past_host && !IsHostText(value)) {
      return TemplateError(fmt::format("the value of '{}' is not a part of a host name", name));
    }
    rendered += past_host ? PercentEncoded(value) : value;
    return {};
  };
  CARILLON_TRY(ScanTemplate(url, add, fill));
  // An executor could not read the task, nor the others of its bundle.
  auto sent = SendableUrl(rendered);
  if (!sent.ok()) return TemplateError("the URL " + sent.error().message);
  if (HasDotSegment(*sent) && !HasDotSegment(url)) {
    return TemplateError("a value of '.' or '..' in the path of the URL would leave its place");
  }
  if (sent->size() > kHttpUrlBytesMax) {
    return TemplateError(fmt::format("the URL has more than {} bytes", kHttpUrlBytesMax));
  }
  return *std::move(sent);
}

using EscapeFn = std::function<Result<std::string>(std::string_view value)>;

Result<SecretText> RenderText(std::string_view text, const TemplateValues& values, size_t bytes_max,
                              const EscapeFn& escape) {
  SecretText pieces;
  size_t bytes = 0;
  const auto add = [&](std::string_view part) {
    bytes += part.size();
    if (part.empty() || bytes > bytes_max) return;
    const bool begins = pieces.empty() || !pieces.back().secret.empty();
    if (begins) pieces.emplace_back();
    pieces.back().text += part;
  };
  const auto fill = [&](std::string_view name) -> Status {
    if (const std::string_view secret = SecretPlaceholder(name); !secret.empty()) {
      pieces.push_back({.secret = std::string(secret)});
      return {};
    }
    CARILLON_ASSIGN_OR_RETURN(const std::string value, values.Find(name));
    CARILLON_ASSIGN_OR_RETURN(const std::string escaped, escape(value));
    add(escaped);
    return {};
  };
  CARILLON_TRY(ScanTemplate(text, add, fill));
  if (bytes > bytes_max) {
    return TemplateError(fmt::format("the result has more than {} bytes", bytes_max));
  }
  return pieces;
}

Result<std::string> CheckHeaderValue(std::string_view value) {
  if (std::none_of(value.begin(), value.end(), IsControl)) return std::string(value);
  return TemplateError("a value with a line break or control character does not fit into a header");
}

// An executor would refuse the task.
Status CheckRenderedHeader(std::string_view name, const SecretText& rendered) {
  if (LowerCase(name) != "host") return {};
  if (rendered.size() == 1 && rendered[0].secret.empty()) {
    const Status host = CheckHostHeader(rendered[0].text);
    if (host.ok()) return {};
    return TemplateError("the header Host " + host.error().message);
  }
  return TemplateError("the header Host is empty or names a secret");
}

}  // namespace

Result<HttpCall> RenderHttp(const HttpDefinition& http, const AttemptFacts& facts) {
  const TemplateValues values(facts);
  HttpCall call{.method = http.method,
                .expect = http.expect,
                .follow = http.follow,
                .connect_timeout_s = http.connect_timeout_s,
                .tls_verify = http.tls_verify,
                .poll = http.poll};
  CARILLON_ASSIGN_OR_RETURN(call.url, RenderUrl(http.url, values));
  for (const auto& [name, value] : http.headers) {
    SecretText& rendered = call.headers[name];
    CARILLON_ASSIGN_OR_RETURN(rendered,
                              RenderText(value, values, kHttpHeaderBytesMax, CheckHeaderValue));
    CARILLON_TRY(CheckRenderedHeader(name, rendered));
  }
  if (call.poll && !call.poll->url.empty()) {
    CARILLON_ASSIGN_OR_RETURN(call.poll->url, RenderUrl(http.poll->url, values));
  }
  const auto keep = [](std::string_view value) -> Result<std::string> {
    return std::string(value);
  };
  CARILLON_ASSIGN_OR_RETURN(call.client_certificate,
                            RenderText(http.client_certificate, values, kHttpHeaderBytesMax, keep));
  const BodyFormat format = BodyFormatOf(ContentTypeOf(http.headers));
  const auto escape = [&](std::string_view value) -> Result<std::string> {
    return EscapeFor(format, value);
  };
  CARILLON_ASSIGN_OR_RETURN(call.body, RenderText(http.body, values, kHttpBodyBytesMax, escape));
  return call;
}

std::set<std::string> PlainHttpParameters(const HttpDefinition& http) {
  std::set<std::string> names;
  std::string before;
  const auto note = [&](std::string_view name) {
    if (name.starts_with(kParameterPrefix)) names.emplace(name.substr(kParameterPrefix.size()));
    return Status();
  };
  // A malformed text was refused when the job was written; it has the names before its end.
  for (const std::string* url : {&http.url, http.poll ? &http.poll->url : nullptr}) {
    if (url == nullptr) continue;
    before.clear();
    static_cast<void>(
        ScanTemplate(
            *url, [&](std::string_view text) { before += text; },
            [&](std::string_view name) { return IsPastHost(before) ? Status() : note(name); })
            .ok());
  }
  if (BodyFormatOf(ContentTypeOf(http.headers)) == BodyFormat::kPlain) {
    static_cast<void>(ScanTemplate(
                          http.body, [](std::string_view) {}, note)
                          .ok());
  }
  return names;
}

}  // namespace carillon
