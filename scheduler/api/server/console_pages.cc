#include "scheduler/api/server/console_pages.h"

#include <utility>

#include "scheduler/api/http/forwarded_prefix.h"
#include "scheduler/api/http/short_hash.h"
#include "scheduler/api/server/index_page.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kAssets = "assets";  // file names there contain a hash of the content
constexpr std::string_view kIndex = "index.html";
constexpr std::string_view kBase = "<base href=\"/\"";  // as in web-ui/index.html
// Forbids inline scripts and styles, and other origins. Images may be data: URLs, because the style
// sheet contains icons in this form.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'";

void Guard(HttpResponse& response) {
  response.headers.emplace_back("Content-Security-Policy", kPolicy);
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
}

}  // namespace

ConsolePages::ConsolePages(EmbeddedFiles files, std::string version)
    : files_(files), version_(std::move(version)) {}

bool ConsolePages::Concerns(const HttpRequest& request) {
  return (request.method == "GET" || request.method == "HEAD") && !request.segments.empty() &&
         request.defect == HttpDefect::kNone && request.segments[0] != "api";
}

std::optional<HttpResponse> ConsolePages::Answer(const HttpRequest& request) const {
  if (!Concerns(request)) return std::nullopt;
  const std::string& first = request.segments[0];
  if (files_.empty()) {
    if (request.segments.size() > 1 || !first.empty()) return std::nullopt;
    return IndexPage(version_);
  }
  const bool page = first != kAssets && first.find('.') == std::string::npos;
  if (page) return Page(request);
  std::string path;
  for (const std::string& segment : request.segments) {
    path += (path.empty() ? "" : "/") + segment;
  }
  if (path == kIndex) return Page(request);
  auto response = files_.Answer(path, request);
  if (!response) return std::nullopt;
  response->headers.emplace_back(
      "Cache-Control", first == kAssets ? "public, max-age=31536000, immutable" : "no-cache");
  Guard(*response);
  return response;
}

HttpResponse ConsolePages::Page(const HttpRequest& request) const {
  HttpResponse response{.status = 200};
  if (const EmbeddedFile* index = files_.Find(kIndex)) response.body = std::string(index->bytes);
  const size_t base = response.body.find(kBase);
  if (base != std::string::npos) {
    response.body.replace(base, kBase.size(), "<base href=\"" + PrefixOf(request) + "\"");
  }
  response.headers = {{"Content-Type", std::string(ContentTypeOf(kIndex))},
                      {"Cache-Control", "no-cache"},
                      {"ETag", "\"" + ShortHash(response.body) + "\""},
                      {"Vary", "X-Forwarded-Prefix"}};
  Guard(response);
  return response;
}

}  // namespace carillon::scheduler
