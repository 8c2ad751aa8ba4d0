// The web console: its files and its pages, to anybody; what they show comes over the API.
//
// Threads  Immutable after construction.
// Always   Answers GET and HEAD outside of /api only. A path whose first segment
//          has no dot is a page of the console, so its links can be opened and
//          reloaded; the page is one document whose <base> says where it is:
//          under the path of X-Forwarded-Prefix, if a proxy set one.
#pragma once

#include <optional>
#include <string>

#include "common/web/static_files.h"

namespace carillon::scheduler {

class ConsolePages {
 public:
  // `files`: of web-ui/dist; without any the start page tells how to build it.
  ConsolePages(EmbeddedFiles files, std::string version);

  // True for what it may answer, known without looking at anything: GET and HEAD of other paths.
  static bool Concerns(const HttpRequest& request);
  // nullopt: nothing is here; the API says so.
  std::optional<HttpResponse> Answer(const HttpRequest& request) const;

 private:
  HttpResponse Page(const HttpRequest& request) const;

  const StaticFiles files_;
  const std::string version_;
};

// The path that a proxy serves the console under, with slashes at both ends: "/" when the header
// is absent or is no plain path.
std::string PrefixOf(const HttpRequest& request);

}  // namespace carillon::scheduler
