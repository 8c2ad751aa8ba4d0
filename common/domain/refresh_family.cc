#include "common/domain/refresh_family.h"

#include <algorithm>

namespace carillon {

std::optional<LaterRefresh> LostAnswer(const std::vector<LaterRefresh>& later, WallTime now) {
  std::optional<LaterRefresh> unused;
  for (const LaterRefresh& token : later) {
    if (token.use == RefreshUse::kPresented) return std::nullopt;
    if (now - token.created > kLostAnswerMax) return std::nullopt;
    if (token.use == RefreshUse::kNone) unused = token;
  }
  return unused;
}

WallTime CreatedAfter(WallTime before, WallTime now) {
  return std::max(now, before + std::chrono::microseconds(1));
}

}  // namespace carillon
