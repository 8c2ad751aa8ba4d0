// The version of every binary. tests/tidy checks that it equals the one in the top CMakeLists.txt.
#pragma once

namespace carillon {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace carillon
