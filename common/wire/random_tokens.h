// Claim tokens from the kernel's random generator.
//
// Always   No token says anything about another one, nor about any other random number.
#pragma once

#include "common/ports/token_source.h"

namespace carillon {

class RandomTokens final : public TokenSource {
 public:
  RandomTokens();
  ClaimToken Next() override;
};

}  // namespace carillon
