// Port that generates claim tokens. Only the executor and the run's owner may know a token.
//
// Results are not signed: the token of their claim proves them (docs/protocol.md). A reader of one
// result on the bus must not be able to compute another token from this result. So product code
// takes tokens from the kernel's generator (wire/random_tokens.h). Only tests make tokens
// from a seed.
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
