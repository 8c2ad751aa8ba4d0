// libFuzzer: result bundles. What is accepted must survive another round unchanged.
#include <cstdint>
#include <cstdlib>

#include "common/wire/task_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto results =
      carillon::DecodeResults(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!results.ok()) return 0;
  const std::string bytes = carillon::EncodeResults(*results);
  const auto again = carillon::DecodeResults(bytes);
  if (!again.ok() || carillon::EncodeResults(*again) != bytes) std::abort();
  return 0;
}
