// Converts ASCII text to lower case, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

// Bytes other than A to Z are unchanged.
std::string LowerCase(std::string_view text);

}  // namespace carillon
