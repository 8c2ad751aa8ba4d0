// libFuzzer: files of outputs, with the checks of outputs_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/outputs_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto check = carillon::test::CheckOutputsText(text);
  if (!check.complaint.empty()) {
    std::fprintf(stderr, "outputs_fuzz: %s\n", check.complaint.c_str());
    std::abort();
  }
  return 0;
}
