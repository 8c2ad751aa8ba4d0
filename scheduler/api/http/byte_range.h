// The one range of bytes of an answer that a request asks for (RFC 9110, section 14).
#pragma once

#include <cstdint>
#include <optional>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

struct ByteRange {
  bool suffix = false;  // the last `last` bytes
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;  // included

  struct Span {
    size_t offset = 0;
    size_t size = 0;
  };
  // What there is of it in so many bytes; nullopt: nothing.
  std::optional<Span> Within(size_t length) const;
};

// nullopt: there is none, or one that is passed over, so that the whole is the answer: a malformed
// one, another unit, several ranges. Numbers of any length are numbers.
std::optional<ByteRange> ReadByteRange(const HttpRequest& request);

}  // namespace carillon::scheduler
