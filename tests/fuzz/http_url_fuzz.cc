// libFuzzer: URLs of requests, with the checks of http_url_check.h.
#include "tests/fuzz/http_url_check.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string complaint =
      carillon::test::CheckHttpUrlText({reinterpret_cast<const char*>(data), size});
  if (complaint.empty()) return 0;
  std::fprintf(stderr, "http_url_fuzz: %s\n", complaint.c_str());
  std::abort();
}
