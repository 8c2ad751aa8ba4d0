// Sends server-sent events to one client of GET /api/changes. They name the lists and objects that
// the client should read again.
//
// Events   First `ready`. Then `change` {changes: [{topic, id?}]}, or `resync` if everything may
//          have changed. The id of an event is the position from which a client continues. An id is
//          valid only for the process that sent it. Another process answers with `resync`.
#pragma once

#include <optional>
#include <string>

#include "scheduler/streams/change_watch.h"
#include "scheduler/streams/stream_hub.h"

namespace carillon::scheduler {

class ChangeFeed final : public StreamSource {
 public:
  // `last_event_id` is the id of the last event that the client has received; empty = none.
  ChangeFeed(ChangeWatch& watch, std::string last_event_id)
      : watch_(watch), last_event_id_(std::move(last_event_id)) {}

  Piece Poll(SteadyTime now) override;

 private:
  std::string Event(std::string_view name, const std::string& data) const;
  // The position in last_event_id_. nullopt: there is no position, or another process sent it.
  std::optional<uint64_t> Wanted() const;
  std::string Begin();

  ChangeWatch& watch_;
  const std::string last_event_id_;
  std::optional<uint64_t> next_;
};

}  // namespace carillon::scheduler
