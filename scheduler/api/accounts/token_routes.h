// Handlers of /api/tokens. Users manage their own tokens, and administrators all tokens.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListTokens(const Call& call);
Reply CreateToken(const Call& call);
Reply DeleteToken(const Call& call);

}  // namespace carillon::scheduler
