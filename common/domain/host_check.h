// One line of an executor's start-up report: something that its host may or may not offer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

enum class HostCheckState { kWorks, kPartly, kNo };
std::string_view Name(HostCheckState state);  // "works", "partly", "no"
Result<HostCheckState> ParseHostCheckState(std::string_view text);

struct HostCheck {
  std::string name = {};  // "user", "open_files", "script:php", …
  HostCheckState state = HostCheckState::kWorks;
  std::string detail = {};  // a sentence or a value
  std::string cure = {};    // a sentence; empty if it works

  bool operator==(const HostCheck&) const = default;
};

// Limits of a report.
inline constexpr size_t kHostChecksMax = 64;
inline constexpr size_t kHostCheckBytesMax = 500;  // of each text

}  // namespace carillon
