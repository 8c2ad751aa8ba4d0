#include "tests/twins/memory_entries.h"

#include <algorithm>
#include <cctype>

namespace carillon::memory {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool NameContains(const JobEntry& job, std::string_view text) {
  const std::string wanted = Lower(text);
  return Lower(job.definition.name).find(wanted) != std::string::npos ||
         Lower(job.id.value()).find(wanted) != std::string::npos;
}

}  // namespace carillon::memory
