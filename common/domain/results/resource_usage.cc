#include "common/domain/results/resource_usage.h"

#include <fmt/format.h>

#include <charconv>

namespace carillon {

std::string UsageToText(const ResourceUsage& usage) {
  return fmt::format("{},{},{},{}", usage.cpu_us, usage.memory_bytes, usage.read_bytes,
                     usage.written_bytes);
}

std::optional<ResourceUsage> UsageFromText(std::string_view text) {
  ResourceUsage usage;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int64_t* const number :
       {&usage.cpu_us, &usage.memory_bytes, &usage.read_bytes, &usage.written_bytes}) {
    if (number != &usage.cpu_us && (at == end || *at++ != ',')) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc() || *number < 0) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return usage;
}

}  // namespace carillon
