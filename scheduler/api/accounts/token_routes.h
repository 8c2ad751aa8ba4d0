// API tokens: one's own, and everybody's for administrators.
#pragma once

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

Reply ListTokens(const Call& call);
Reply CreateToken(const Call& call);
Reply DeleteToken(const Call& call);

}  // namespace carillon::scheduler
