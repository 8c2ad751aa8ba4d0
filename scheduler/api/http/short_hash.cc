#include "scheduler/api/http/short_hash.h"

#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {

std::string ShortHash(std::string_view text) {
  constexpr size_t kHexDigits = 16;
  return HashSecret(text).substr(0, kHexDigits);
}

}  // namespace carillon::scheduler
