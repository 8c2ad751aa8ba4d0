// libFuzzer: task bundles. Accepted tasks must survive encoding and decoding unchanged.
#include <cstdint>
#include <cstdlib>

#include "common/wire/messages/task_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tasks =
      carillon::DecodeTasks(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!tasks.ok()) return 0;
  const auto again = carillon::DecodeTasks(carillon::EncodeTasks(*tasks));
  if (!again.ok() || *again != *tasks) std::abort();
  return 0;
}
