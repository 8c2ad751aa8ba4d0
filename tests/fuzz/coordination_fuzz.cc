// libFuzzer: contents of the coordinator's nodes. An accepted text must survive encoding and
// decoding unchanged.
#include <cstdint>
#include <cstdlib>

#include "common/wire/json/coordination_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto member = carillon::ParseMember(text);
  if (member.ok()) {
    const auto again = carillon::ParseMember(carillon::MemberText(*member));
    if (!again.ok() || *again != *member) std::abort();
  }
  const auto assignment = carillon::ParseAssignment(text);
  if (assignment.ok()) {
    const auto again = carillon::ParseAssignment(carillon::AssignmentText(*assignment));
    if (!again.ok() || *again != *assignment) std::abort();
  }
  const auto settings = carillon::ParseSettings(text);
  if (settings.ok()) {
    const auto again = carillon::ParseSettings(carillon::SettingsText(*settings));
    if (!again.ok() || *again != *settings) std::abort();
  }
  return 0;
}
