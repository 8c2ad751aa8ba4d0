// The single range of bytes that a request asks for (RFC 9110, section 14).
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
  // The part that lies within that many bytes; nullopt: none.
  std::optional<Span> Within(size_t length) const;
};

// nullopt: there is none, or one that is ignored, so that the whole text is sent: a malformed
// range, another unit, several ranges. Numbers may have any length.
std::optional<ByteRange> ReadByteRange(const HttpRequest& request);

}  // namespace carillon::scheduler
