// Maps return codes of the ZooKeeper C client to Carillon's error codes.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace carillon::zookeeper {

// An unanswered read had no effect; an unanswered write may have been executed.
enum class Effect { kRead, kWrite };

ErrorCode CodeOf(int rc, Effect effect);

// "create /carillon/election: connection loss"
Error MakeError(std::string_view operation, std::string_view path, int rc, Effect effect);

}  // namespace carillon::zookeeper
