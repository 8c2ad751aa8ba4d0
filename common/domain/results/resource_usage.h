// The resources that an attempt used: those of all its processes together. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace carillon {

// From getrusage of the attempt's keeper, which reaps all processes of the attempt.
struct ResourceUsage {
  int64_t cpu_us = 0;         // user and system time
  int64_t memory_bytes = 0;   // peak of the largest process; that of the warden at least
  int64_t read_bytes = 0;     // from block devices
  int64_t written_bytes = 0;  // to block devices

  bool operator==(const ResourceUsage&) const = default;
};

// "CPU_US,MEMORY,READ,WRITTEN", as in the database.
std::string UsageToText(const ResourceUsage& usage);
// nullopt: not such a text.
std::optional<ResourceUsage> UsageFromText(std::string_view text);

}  // namespace carillon
