// GET /api/changes for one listener: what to read anew, as server-sent events.
//
// Events   `ready` at first; `change` {changes: [{topic, id?}]}; `resync`: everything may have
//          changed. The id of an event is where to go on; it means something to one member while
//          it runs, to any other it means resync.
#pragma once

#include <optional>
#include <string>

#include "scheduler/streams/change_watch.h"
#include "scheduler/streams/stream_hub.h"

namespace carillon::scheduler {

class ChangeFeed final : public StreamSource {
 public:
  // `last_event_id` is what the listener had; empty = nothing.
  ChangeFeed(ChangeWatch& watch, std::string last_event_id)
      : watch_(watch), last_event_id_(std::move(last_event_id)) {}

  Piece Poll(SteadyTime now) override;

 private:
  std::string Event(std::string_view name, const std::string& data) const;
  std::optional<uint64_t> Wanted() const;  // by last_event_id_; nullopt: not one of this life
  std::string Begin();

  ChangeWatch& watch_;
  const std::string last_event_id_;
  std::optional<uint64_t> next_;
};

}  // namespace carillon::scheduler
