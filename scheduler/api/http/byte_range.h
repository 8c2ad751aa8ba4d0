// The single range of bytes that a request asks for (RFC 9110, section 14).
#pragma once

#include <cstdint>
#include <optional>

#include "common/adapters/http/http_message.h"

namespace carillon::scheduler {

struct ByteRange {
  bool suffix = false;  // true: the range is the last `last` bytes
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;  // the last byte of the range, included

  struct Span {
    size_t offset = 0;
    size_t size = 0;
  };
  // Returns the part of a text of `length` bytes that the range covers. nullopt: it covers no byte.
  std::optional<Span> Within(size_t length) const;
};

// Returns nullopt if the whole text is to be sent. That is so without a range, and for a range that
// is ignored: it is malformed, has another unit, or is one of several. Numbers may have any length.
std::optional<ByteRange> ReadByteRange(const HttpRequest& request);

}  // namespace carillon::scheduler
