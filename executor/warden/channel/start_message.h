// The message in which a start is sent to the warden, and whether a warden of an earlier version
// can read it.
//
// Threads  Stateless.
#pragma once

#include "executor/warden/channel/warden_protocol.h"

namespace carillon::executor {

// kInvalid: a warden of this version would run the attempt without something that it needs, so it
// never gets it.
Result<WardenMessage> StartMessage(const StartAttempt& start, uint32_t warden_version);

}  // namespace carillon::executor
