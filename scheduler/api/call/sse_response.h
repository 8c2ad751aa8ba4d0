// Answers that are streams of server-sent events.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The header of a listener that comes again; empty = it does not.
std::string LastEventIdOf(const HttpRequest& request);

// 200 with what the source tells; 503 too_many_streams. `make` is called once the head is sent.
Reply EventStream(const Call& call, std::function<std::unique_ptr<StreamSource>()> make);

}  // namespace carillon::scheduler
