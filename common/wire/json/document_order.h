// The order in which the documents of a list are applied. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace carillon {

// Indexes of the documents, in their order, except that a job comes after those of the list after
// which it starts, and a workflow after the jobs of its nodes. Documents that would start each
// other stay as they are; the store refuses one of them.
std::vector<size_t> UpstreamFirst(const nlohmann::json& documents);

}  // namespace carillon
