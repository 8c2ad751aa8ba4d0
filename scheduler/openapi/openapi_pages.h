// The pages that serve the contract of the REST API (openapi.yaml in this folder).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon::scheduler {

// The answer to GET of its path, which needs no authentication.
struct OpenApiPage {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
  std::string_view etag;
  std::string policy = {};  // Content-Security-Policy; empty: not an HTML page
};

// nullptr if there is none at this path ("/api/openapi.json" is {"api", "openapi.json"}).
const OpenApiPage* FindOpenApiPage(const std::vector<std::string>& segments);

}  // namespace carillon::scheduler
