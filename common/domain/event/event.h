// An event from outside that may start runs, and its limits. Pure.
#pragma once

#include <memory>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

class NamedValues;  // workflow/condition.h

inline constexpr size_t kEventIdBytesMax = 256;
inline constexpr size_t kEventSourceBytesMax = 512;
inline constexpr size_t kEventTypeBytesMax = 255;
inline constexpr size_t kEventSubjectBytesMax = 512;
inline constexpr size_t kEventDataBytesMax = 64u << 10;
inline constexpr size_t kEventsPerCall = 100;
inline constexpr size_t kMatchesPerEvent = 100;
inline constexpr size_t kTriggersPerNamespace = 1'000;
inline constexpr size_t kEventRunsPerWrite = 1'000;
inline constexpr int64_t kOpenEventRunsMax = 100'000;
inline constexpr Duration kEventKept = 72h;  // so long is an id known

// The names by which an event is known. `source` and `id` together are unique in a namespace.
struct EventOrigin {
  std::string id;
  std::string source;
  std::string type;
  std::string subject = {};

  bool operator==(const EventOrigin&) const = default;
};

struct Event {
  EventOrigin origin;
  // Every value, those of `origin` too. Shared, because batches are split and tried again.
  std::shared_ptr<const NamedValues> values;
};

// kInvalid with "/id", "/source", "/type" or "/subject": empty (other than subject), too long, not
// UTF-8, or with a control character.
Status CheckOrigin(const EventOrigin& origin);

}  // namespace carillon
