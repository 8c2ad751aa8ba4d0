// libFuzzer: output in other character sets, with the checks of charset_check.h. The first two
// bytes choose the character set and the size of the pieces.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/charset_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using carillon::test::kFuzzedCharsets;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string complaint = carillon::test::CheckCharset(
      text, kFuzzedCharsets[data[0] % kFuzzedCharsets.size()], 1 + data[1] % 7);
  if (!complaint.empty()) {
    std::fprintf(stderr, "charset_fuzz: %s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
