// libFuzzer: filters and parameters of triggers, with the checks of event_check.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/event_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& check : {carillon::test::CheckEventFilterText(text),
                            carillon::test::CheckEventParameterText(text)}) {
    if (check.complaint.empty()) continue;
    std::fprintf(stderr, "event_fuzz: %s\n", check.complaint.c_str());
    std::abort();
  }
  return 0;
}
