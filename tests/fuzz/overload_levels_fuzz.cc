// libFuzzer: the setting overload.levels, with the checks of overload_levels_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/overload_levels_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string complaint = carillon::test::CheckOverloadLevels(
      std::string_view(reinterpret_cast<const char*>(data), size));
  if (!complaint.empty()) {
    std::fprintf(stderr, "overload_levels_fuzz: %s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
