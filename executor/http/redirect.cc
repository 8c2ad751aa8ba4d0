#include "executor/http/redirect.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/base/lower_case.h"
#include "executor/http/curl_url.h"

namespace carillon::executor {
namespace {

std::string OriginOf(const CurlUrl& url) {
  return LowerCase(PartOf(url, CURLUPART_SCHEME)) + "://" + LowerCase(PartOf(url, CURLUPART_HOST)) +
         ":" + PartOf(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

// RFC 9110, 15.4: only 307 and 308 keep the method and the body of every request.
bool BecomesGet(int status, HttpMethod method) {
  if (method == HttpMethod::kHead) return false;
  return status == 303 || ((status == 301 || status == 302) && method == HttpMethod::kPost);
}

struct Move {
  std::string base;  // the URL to which `target` is relative
  std::string_view target;
  std::string_view what;
};

void DropHeaders(StartHttp& request, const std::function<bool(const std::string&)>& drops) {
  std::erase_if(request.headers, [&](const auto& header) { return drops(header.first); });
}

Status MoveTo(const Move& move, bool becomes_get, StartHttp& request) {
  const CurlUrl url = MakeCurlUrl();
  // The rules of libcurl for what it would send, so that both see the same host.
  if (curl_url_set(url.get(), CURLUPART_URL, request.url.c_str(), 0) != CURLUE_OK) {
    return {ErrorCode::kInvalid, "the URL cannot be read"};
  }
  const std::string origin = OriginOf(url);
  const std::string target(move.target);
  if (curl_url_set(url.get(), CURLUPART_URL, move.base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(url.get(), CURLUPART_URL, target.c_str(), CURLU_URLENCODE) != CURLUE_OK) {
    return {ErrorCode::kInvalid, fmt::format("the {} is no URL", move.what)};
  }
  const std::string scheme = LowerCase(PartOf(url, CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https") {
    return {ErrorCode::kDenied, fmt::format("the {} leads to a URL of {}", move.what, scheme)};
  }
  if (!PartOf(url, CURLUPART_USER).empty() || !PartOf(url, CURLUPART_PASSWORD).empty()) {
    return {ErrorCode::kDenied, fmt::format("the {} leads to a URL with a user", move.what)};
  }
  if (becomes_get) {
    request.method = HttpMethod::kGet;
    request.body.clear();
    request.secret_body = false;
    DropHeaders(request,
                [](const std::string& name) { return LowerCase(name).starts_with("content-"); });
  }
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  auto sent = SendableUrl(PartOf(url, CURLUPART_URL));
  if (!sent.ok()) {
    return {ErrorCode::kInvalid, fmt::format("the {} {}", move.what, sent.error().message)};
  }
  // The name in its ASCII form is the one that the origin has.
  if (curl_url_set(url.get(), CURLUPART_URL, sent->c_str(), 0) != CURLUE_OK) {
    return {ErrorCode::kInvalid, fmt::format("the {} is no URL", move.what)};
  }
  if (OriginOf(url) != origin) {
    if (request.secret_body) {
      return {ErrorCode::kDenied, "the redirect would send a secret of the body to another server"};
    }
    request.client_certificate.clear();
    DropHeaders(request, [&](const std::string& name) {
      const std::string lower = LowerCase(name);
      return request.secret_headers.contains(name) || lower == "authorization" ||
             lower == "cookie" || lower == "host";
    });
  }
  request.url = *std::move(sent);
  return {};
}

}  // namespace

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Status FollowRedirect(int status, std::string_view location, StartHttp& request) {
  const bool becomes_get = BecomesGet(status, request.method);
  return MoveTo({.base = request.url, .target = location, .what = "redirect"}, becomes_get,
                request);
}

namespace {

// An id such as "job:7" is no URL of a scheme "job".
std::string AsReference(std::string_view id) {
  const size_t colon = id.find_first_of(":/?#");
  const bool names_scheme = colon == id.npos || id[colon] != ':' || id.substr(colon, 3) == "://";
  return names_scheme ? std::string(id) : fmt::format("./{}", id);
}

}  // namespace

Status AskForStatus(const HttpPoll& poll, std::string_view named, std::string_view location,
                    StartHttp& request) {
  Move move{.base = poll.url.empty() ? request.url : poll.url, .what = "URL of the status"};
  const std::string reference = AsReference(named);
  if (!poll.url_at.empty()) {
    move.target = reference;
  } else {
    move.target = poll.url.empty() ? location : std::string_view(poll.url);
  }
  if (move.target.empty()) {
    return {ErrorCode::kInvalid,
            poll.url_at.empty()
                ? "the response has no Location, at which its status could be asked for"
                : fmt::format("the response has no URL at {} (poll.url_at)", poll.url_at)};
  }
  return MoveTo(move, true, request);
}

}  // namespace carillon::executor
