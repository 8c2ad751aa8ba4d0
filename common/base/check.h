// CARILLON_CHECK: aborts the process on a bug, with the expression and a detail text.
// For bugs only; a condition that input or the environment can cause is an Error (result.h).
#pragma once

#include <string_view>

namespace carillon {

[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              std::string_view detail);

}  // namespace carillon

#define CARILLON_CHECK(condition, detail) \
  (static_cast<bool>(condition)           \
       ? static_cast<void>(0)             \
       : ::carillon::CheckFailed(__FILE__, __LINE__, #condition, (detail)))
