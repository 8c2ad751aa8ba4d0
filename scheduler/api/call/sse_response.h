// Answers that are streams of server-sent events.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The Last-Event-ID of a client that reconnects; empty = none.
std::string LastEventIdOf(const HttpRequest& request);

// Answers 200 and streams the events of the source, or answers 503 too_many_streams. `make` is
// called when the stream is opened.
Reply EventStream(const Call& call, std::function<std::unique_ptr<StreamSource>()> make);

}  // namespace carillon::scheduler
