// libFuzzer: conditions of a workflow's edges, with the checks of condition_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/condition_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = carillon::test::CheckConditionText(text);
  if (!check.complaint.empty()) {
    std::fprintf(stderr, "condition_fuzz: %s\n", check.complaint.c_str());
    std::abort();
  }
  return 0;
}
