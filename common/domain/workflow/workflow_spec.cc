#include "common/domain/workflow/workflow_spec.h"

#include <algorithm>
#include <array>

#include "common/domain/enum_names.h"

namespace carillon {
namespace {

constexpr size_t kNodeIdBytesMax = 63;

constexpr std::array<NameOf<EdgeOn>, 3> kEdgeOns{
    {{EdgeOn::kSuccess, "success"}, {EdgeOn::kFailure, "failure"}, {EdgeOn::kDone, "done"}}};

bool IsLetterOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

std::string_view Name(EdgeOn value) { return NameIn(kEdgeOns, value); }

template <>
Result<EdgeOn> ParseName(std::string_view text) {
  return ValueIn(kEdgeOns, text);
}

bool IsNodeId(std::string_view text) {
  if (text.empty() || text.size() > kNodeIdBytesMax || !IsLetterOrDigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; });
}

}  // namespace carillon
