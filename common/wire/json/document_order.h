// The order in which the documents of a list are applied. Pure.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace carillon {

// Indexes of the documents: first those of jobs that need no other job of the list, then those that
// need only these, and so on, each time in their order. A job needs those after which it starts and
// those for which it waits, and a workflow the jobs of its nodes. So many jobs that follow each
// other can be stored together. Of documents that would start each other, the store refuses one.
std::vector<size_t> UpstreamFirst(const nlohmann::json& documents);

}  // namespace carillon
