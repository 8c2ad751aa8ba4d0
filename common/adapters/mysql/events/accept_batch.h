// Accepts events that match triggers: one transaction.
//
// Always   The row of an event is written last, with its runs and gaps. So an event is known
//          exactly if it has had its effect.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/pool.h"
#include "common/domain/event/event_trigger.h"
#include "common/ports/events/event_store.h"

namespace carillon::mysql {

// The triggers may be those of earlier versions of their jobs.
struct MatchedEvent {
  size_t place = 0;  // in the call
  const Event* event = nullptr;
  EventMatches matches;
};

// One effect for each event, in order.
Result<std::vector<EventEffect>> AcceptMatched(Pool& pool, const std::string& name_space,
                                               const std::vector<MatchedEvent>& events,
                                               WallTime now);

}  // namespace carillon::mysql
