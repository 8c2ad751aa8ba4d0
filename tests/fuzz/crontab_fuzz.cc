// libFuzzer: crontabs, with the checks of crontab_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/crontab_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool system : {false, true}) {
    const std::string complaint = carillon::test::CheckCrontab(text, system);
    if (!complaint.empty()) {
      std::fprintf(stderr, "crontab_fuzz: %s\n", complaint.c_str());
      std::abort();
    }
  }
  return 0;
}
