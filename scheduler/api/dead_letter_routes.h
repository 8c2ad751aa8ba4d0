// Runs that used up their attempts, until somebody tries them again or lets them be.
#pragma once

#include "scheduler/api/call.h"

namespace carillon::scheduler {

// Of the path; nullopt: no dead letter has such an id.
std::optional<uint64_t> DeadLetterId(const std::string& text);

Reply ListDeadLetters(const Call& call);
Reply GetDeadLetter(const Call& call);
Reply DiscardDeadLetter(const Call& call);

}  // namespace carillon::scheduler
