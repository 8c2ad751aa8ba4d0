// Events as JSON, each a CloudEvent 1.0 in structured mode, and the stored form of their effects.
//
//   {"id": "42", "source": "shop", "type": "order.paid", "subject": "o-7", "data": {"amount": 9.5}}
//
// `subject` and `data` may be absent. `specversion` ("1.0"), `time`, `datacontenttype` and
// `dataschema` may be present, and extensions of CloudEvents; none of them has an effect.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/event/event.h"
#include "common/ports/events/event_store.h"

namespace carillon {

// The event keeps `body`. kInvalid with the pointer ("/id", "/data"): a member is missing, of a
// wrong type or unknown, an origin that CheckOrigin refuses, or data of more than
// kEventDataBytesMax bytes as JSON without blanks.
Result<Event> EventFromJson(nlohmann::json body);
// Also the errors of ParseJsonText.
Result<Event> EventFromText(std::string_view text);

// The stored form of what an event started.
nlohmann::json StartsToJson(const std::vector<EventStart>& starts);
// kCorrupt: not such a list.
Result<std::vector<EventStart>> StartsFromText(std::string_view text);

}  // namespace carillon
