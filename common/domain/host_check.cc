#include "common/domain/host_check.h"

#include <array>

#include "common/domain/enum_names.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<HostCheckState>, 3> kHostCheckStates{
    {{HostCheckState::kWorks, "works"},
     {HostCheckState::kPartly, "partly"},
     {HostCheckState::kNo, "no"}}};

}  // namespace

std::string_view Name(HostCheckState state) { return NameIn(kHostCheckStates, state); }
Result<HostCheckState> ParseHostCheckState(std::string_view text) {
  return ValueIn(kHostCheckStates, text);
}

}  // namespace carillon
