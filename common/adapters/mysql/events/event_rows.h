// Rows of events: known ids, refused records, lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/adapters/mysql/client/session.h"
#include "common/ports/events/event_store.h"

namespace carillon::mysql {

// The starts of those of `events` that are known, by their order; nullopt: not known. Without
// locks: two members that accept an event at once collide when they insert its row.
using KnownStarts = std::vector<std::optional<std::vector<EventStart>>>;
Result<KnownStarts> ReadKnown(Session& session, const std::string& name_space,
                              const std::vector<const EventOrigin*>& events);

// kExists: one of them is known.
Status InsertEvents(Session& session, std::vector<EventRecord> records);
// Does nothing if its place is known.
Status InsertRefused(Session& session, const RefusedEvent& event, WallTime now);

Result<EventPage> ReadEventPage(Session& session, const EventListFilter& filter);

}  // namespace carillon::mysql
