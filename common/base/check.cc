#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace carillon {

void CheckFailed(const char* file, int line, const char* expression, std::string_view detail) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, expression,
               static_cast<int>(detail.size()), detail.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace carillon
