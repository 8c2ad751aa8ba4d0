// The texts that cmake/embed_openapi.py generates from openapi.yaml.
#pragma once

#include <string_view>

namespace carillon::scheduler {

extern const std::string_view kOpenApiJson;
extern const std::string_view kReferencePage;       // HTML without scripts
extern const std::string_view kReferenceStyleHash;  // of its one style element, for the policy
extern const std::string_view kOpenApiTag;          // ETags
extern const std::string_view kReferenceTag;

}  // namespace carillon::scheduler
