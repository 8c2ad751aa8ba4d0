// openapi.yaml, as cmake/embed_openapi.py turns it into what is served.
#pragma once

#include <string_view>

namespace carillon::scheduler {

extern const std::string_view kOpenApiJson;
extern const std::string_view kReferencePage;       // HTML without scripts
extern const std::string_view kReferenceStyleHash;  // of its one style, for a policy
extern const std::string_view kOpenApiTag;          // ETags
extern const std::string_view kReferenceTag;

}  // namespace carillon::scheduler
