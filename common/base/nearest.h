// The known name that a misspelt one was probably meant to be. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon {

// Returns the name of `known` with the fewest edits to `name`. Empty if each needs more edits than
// three, or than a third of the length of `name`.
std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& known);

// "; did you mean 'time_zone'?", or nothing.
std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace carillon
