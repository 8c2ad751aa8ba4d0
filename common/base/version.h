// The version of every binary; the same as in the top CMakeLists.txt (tests/tidy compares).
#pragma once

namespace carillon {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace carillon
