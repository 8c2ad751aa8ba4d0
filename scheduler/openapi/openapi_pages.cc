#include "scheduler/openapi/openapi_pages.h"

#include "scheduler/openapi/openapi_texts.h"

namespace carillon::scheduler {

const OpenApiPage* FindOpenApiPage(const std::vector<std::string>& segments) {
  static const OpenApiPage document{.path = "/api/openapi.json",
                                    .content_type = "application/json",
                                    .body = kOpenApiJson,
                                    .etag = kOpenApiTag};
  static const OpenApiPage reference{.path = "/api/reference",
                                     .content_type = "text/html; charset=utf-8",
                                     .body = kReferencePage,
                                     .etag = kReferenceTag,
                                     .policy = "default-src 'none'; style-src '" +
                                               std::string(kReferenceStyleHash) +
                                               "'; frame-ancestors 'none'; base-uri 'none'"};
  if (segments.size() != 2 || segments[0] != "api") return nullptr;
  for (const OpenApiPage* page : {&document, &reference}) {
    if (page->path.substr(5) == segments[1]) return page;
  }
  return nullptr;
}

}  // namespace carillon::scheduler
