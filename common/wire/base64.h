// Base64 of RFC 4648, with padding. Pure.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

std::string Base64(std::string_view bytes);

}  // namespace carillon
