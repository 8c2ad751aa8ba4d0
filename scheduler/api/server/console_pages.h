// Serves the files and pages of the web console. No authentication is needed, because the files
// contain no data. The console reads all data through the API.
//
// Threads  Immutable after construction.
// Always   Answers only GET and HEAD outside of /api. A path whose first segment has no dot
//          is a page of the console, so that links to pages can be opened and reloaded. All
//          pages are the same document. Its <base> is the path of X-Forwarded-Prefix, if a
//          proxy set this header.
#pragma once

#include <optional>
#include <string>

#include "common/web/static_files.h"

namespace carillon::scheduler {

class ConsolePages {
 public:
  // `files` is the content of web-ui/dist. Without files the start page says how to
  // build the console.
  ConsolePages(EmbeddedFiles files, std::string version);

  // True for requests that may be for the console: GET and HEAD outside of /api.
  static bool Concerns(const HttpRequest& request);
  // nullopt: there is no such page or file; the API then answers the request.
  std::optional<HttpResponse> Answer(const HttpRequest& request) const;

 private:
  HttpResponse Page(const HttpRequest& request) const;

  const StaticFiles files_;
  const std::string version_;
};

}  // namespace carillon::scheduler
