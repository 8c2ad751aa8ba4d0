#include "common/wire/random_tokens.h"

#include <sodium.h>

#include "common/base/check.h"

namespace carillon {

RandomTokens::RandomTokens() { CARILLON_CHECK(sodium_init() >= 0, "sodium_init"); }

ClaimToken RandomTokens::Next() {
  ClaimToken token;
  // The empty token means "never claimed".
  while (token.empty()) randombytes_buf(&token, sizeof(token));
  return token;
}

}  // namespace carillon
