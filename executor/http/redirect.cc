#include "executor/http/redirect.h"

#include <algorithm>

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

void DropHeaders(StartHttp& request, const std::function<bool(const std::string&)>& drops) {
  std::erase_if(request.headers, [&](const auto& header) { return drops(header.first); });
}

}  // namespace

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Status FollowRedirect(int status, std::string_view location, StartHttp& request) {
  const CurlUrl url = MakeCurlUrl();
  // The rules of libcurl for what it would send, so that both see the same host.
  if (curl_url_set(url.get(), CURLUPART_URL, request.url.c_str(), 0) != CURLUE_OK) {
    return {ErrorCode::kInvalid, "the URL cannot be read"};
  }
  const std::string origin = OriginOf(url);
  if (curl_url_set(url.get(), CURLUPART_URL, std::string(location).c_str(), 0) != CURLUE_OK) {
    return {ErrorCode::kInvalid, "the target of the redirect is no URL"};
  }
  const std::string scheme = LowerCase(PartOf(url, CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https") {
    return {ErrorCode::kDenied, "the redirect leads to a URL of " + scheme};
  }
  if (!PartOf(url, CURLUPART_USER).empty() || !PartOf(url, CURLUPART_PASSWORD).empty()) {
    return {ErrorCode::kDenied, "the redirect leads to a URL with a user"};
  }
  if (BecomesGet(status, request.method)) {
    request.method = HttpMethod::kGet;
    request.body.clear();
    request.secret_body = false;
    DropHeaders(request,
                [](const std::string& name) { return LowerCase(name).starts_with("content-"); });
  }
  if (OriginOf(url) != origin) {
    if (request.secret_body) {
      return {ErrorCode::kDenied, "the redirect would send a secret of the body to another server"};
    }
    DropHeaders(request, [&](const std::string& name) {
      const std::string lower = LowerCase(name);
      return request.secret_headers.contains(name) || lower == "authorization" || lower == "cookie";
    });
  }
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  request.url = PartOf(url, CURLUPART_URL);
  return {};
}

}  // namespace carillon::executor
