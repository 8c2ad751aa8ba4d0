// Generates claim tokens with the kernel's random generator.
//
// Always   A token reveals nothing about another token or any other random number.
#pragma once

#include "common/ports/token_source.h"

namespace carillon {

class RandomTokens final : public TokenSource {
 public:
  RandomTokens();
  ClaimToken Next() override;
};

}  // namespace carillon
