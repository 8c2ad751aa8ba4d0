// Claim tokens, each of which must be unknown to everybody but the executor and the run's owner.
//
// Results are not signed: they are believed because they carry the token of their claim
// (docs/protocol.md). Whoever reads one result on the bus must not be able to compute another
// token from it, so product code takes them from the kernel's generator (wire/random_tokens.h) and
// only tests from a seed.
//
// Threads  Not thread-safe; one owner.
#pragma once

#include "common/domain/run_id.h"

namespace carillon {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual ClaimToken Next() = 0;
};

}  // namespace carillon
