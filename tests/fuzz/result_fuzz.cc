// libFuzzer: result bundles. Accepted results must survive encoding and decoding unchanged. A
// reader that skips the results of other segments must get the same results for its own segments.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "common/wire/messages/task_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view record(reinterpret_cast<const char*>(data), size);
  const auto odd = [](carillon::SegmentId segment) { return segment.value() % 2 == 1; };
  std::vector<carillon::Error> unreadable;
  auto all = carillon::DecodeResults(record, &unreadable);
  const auto some = carillon::DecodeResults(record, &unreadable, odd);
  if (all.ok() != some.ok()) std::abort();
  if (all.ok()) {
    std::erase_if(*all,
                  [&](const carillon::ResultMessage& one) { return !odd(one.report.segment); });
    if (carillon::EncodeResults(*all) != carillon::EncodeResults(*some)) std::abort();
  }
  const auto results = carillon::DecodeResults(record);
  if (!results.ok()) return 0;
  const std::string bytes = carillon::EncodeResults(*results);
  const auto again = carillon::DecodeResults(bytes);
  if (!again.ok() || carillon::EncodeResults(*again) != bytes) std::abort();
  return 0;
}
