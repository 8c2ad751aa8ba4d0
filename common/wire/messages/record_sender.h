// The executor from which a record has come, as the control link has authenticated it. It
// replaces what the messages of the record say about their executor. A record that came through
// Kafka has none.
#pragma once

#include <optional>
#include <string>

#include "common/ports/message_bus.h"

namespace carillon {

inline constexpr std::string_view kSenderHeader = "carillon-sender";

inline void SetSender(BusRecord& record, const ExecutorId& sender) {
  record.headers[std::string(kSenderHeader)] = sender.value();
}

inline std::optional<ExecutorId> SenderOf(const BusRecord& record) {
  const auto found = record.headers.find(std::string(kSenderHeader));
  if (found == record.headers.end()) return std::nullopt;
  return ExecutorId(found->second);
}

}  // namespace carillon
