// The contract of the REST API (openapi.yaml beside this), as it is served.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon::scheduler {

// What GET of its path answers; it needs no token.
struct OpenApiPage {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
  std::string_view etag;
  std::string policy = {};  // Content-Security-Policy; empty: not a page
};

// Null: none is at this path ("/api/openapi.json" is {"api", "openapi.json"}).
const OpenApiPage* FindOpenApiPage(const std::vector<std::string>& segments);

}  // namespace carillon::scheduler
