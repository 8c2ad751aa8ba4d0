// Finds the known name that the user of a misspelt name probably meant. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon {

// Returns the name in `known` that differs from `name` by the fewest edits. Empty if all differ by
// more than three edits, or by more edits than a third of the length of `name`.
std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& known);

// "; did you mean 'time_zone'?", or an empty text.
std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace carillon
