// The pages that publish the description of the REST API (openapi.yaml in this folder).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon::scheduler {

// The response to a GET of `path`, which needs no authentication.
struct OpenApiPage {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
  std::string_view etag;
  std::string policy = {};  // Content-Security-Policy; empty if the page is not HTML
};

// Returns the page at this path: "/api/openapi.json" is {"api", "openapi.json"}. nullptr if
// there is none.
const OpenApiPage* FindOpenApiPage(const std::vector<std::string>& segments);

}  // namespace carillon::scheduler
