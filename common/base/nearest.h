// The known name that a misspelt one was probably meant to be. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace carillon {

// The name of `known` with the fewest edits to `name`: at most a third of its length, and 3. Empty:
// none is that near.
std::string_view Nearest(std::string_view name, const std::vector<std::string_view>& known);

// "; did you mean 'time_zone'?", or nothing.
std::string DidYouMean(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace carillon
