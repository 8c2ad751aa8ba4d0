// libFuzzer: sources of imports, with the checks of import_check.h. The first byte is the kind.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/import_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using carillon::ImportKind;
  if (size == 0) return 0;
  constexpr ImportKind kKinds[] = {ImportKind::kCronJob, ImportKind::kSystemd, ImportKind::kXxlJob};
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string complaint = carillon::test::CheckImport(kKinds[data[0] % 3], text);
  if (!complaint.empty()) {
    std::fprintf(stderr, "import_fuzz: %s\n", complaint.c_str());
    std::abort();
  }
  return 0;
}
