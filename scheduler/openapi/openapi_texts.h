// The texts that cmake/embed_openapi.py generates from openapi.yaml.
#pragma once

#include <string_view>

namespace carillon::scheduler {

extern const std::string_view kOpenApiJson;
extern const std::string_view kReferencePage;       // HTML without scripts
extern const std::string_view kReferenceStyleHash;  // of the page's style element, for its policy
extern const std::string_view kOpenApiTag;          // ETag of kOpenApiJson
extern const std::string_view kReferenceTag;        // ETag of kReferencePage

}  // namespace carillon::scheduler
