// The attempt that a piece of a log says to be of, and whether that can be so. What an executor
// says is believed only for attempts that it was given: everybody who can send a piece can name
// any run.
#pragma once

#include <optional>

#include "common/domain/run/run.h"

namespace carillon {

struct LogOrigin {
  RunKey key;
  int attempt = 1;
  ClaimToken token;
  ExecutorId executor;  // who sent it
};

// The stored facts of the run: its current attempt, and the executor of the earlier attempt that
// the origin names.
struct LogOwner {
  int attempt = 1;
  ClaimToken token;
  std::optional<ExecutorId> executor = {};  // nullopt: no such attempt is recorded
};

// Only the token of the current attempt is kept; of an earlier one the executor is known.
inline bool IsOf(const LogOrigin& origin, const LogOwner& owner) {
  if (origin.token == ClaimToken{}) return false;
  if (origin.attempt == owner.attempt) return origin.token == owner.token;
  return origin.attempt < owner.attempt && owner.executor == origin.executor;
}

}  // namespace carillon
