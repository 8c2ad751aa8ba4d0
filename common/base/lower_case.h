// Lower case of ASCII text, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

// Other bytes than A to Z stay as they are.
std::string LowerCase(std::string_view text);

}  // namespace carillon
