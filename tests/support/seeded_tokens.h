// Claim tokens from a seeded generator: the same seed gives the same tokens.
#pragma once

#include "common/base/rng.h"
#include "common/ports/token_source.h"

namespace carillon::test {

class SeededTokens final : public TokenSource {
 public:
  explicit SeededTokens(uint64_t seed) : rng_(seed) {}
  explicit SeededTokens(Rng rng) : rng_(rng) {}
  ClaimToken Next() override { return {rng_.Next(), rng_.Next()}; }

 private:
  Rng rng_;
};

}  // namespace carillon::test
