// Decides whether a refresh token that is presented a second time was stolen, or only repeated
// because the response to its first use was lost.
//
// Why      The response to an exchange contains the successor of the used token. If a connection
//          breaks or a page is reloaded before the response arrives, the client still has the used
//          token and presents it again. A thief also presents a used token. But after a lost
//          response nobody can have presented the successor. So if the successor was never
//          presented, a new token replaces the successor. Otherwise the used token
//          counts as stolen.
// Always   Two holders of tokens of one family are detected. Once a holder has presented the
//          successor, or kLostAnswerMax has passed, a token presented twice counts as stolen.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace carillon {

// A used token may be presented again for this long after its first exchange.
inline constexpr std::chrono::seconds kLostAnswerMax{10};

// The numbers are stored, so they must not change.
enum class RefreshUse {
  kNone = 0,
  kPresented = 1,  // presented and exchanged
  kReplaced = 2,   // was sent in a lost response; another token replaces it
};

// A token of the same family, created after the one that is presented a second time.
struct LaterRefresh {
  std::string token_hash;
  WallTime created;
  RefreshUse use = RefreshUse::kNone;
};

// Returns the token that was lost with its response and must be replaced by a new one; nullopt if
// the repetition is a theft. `later` is in order of creation.
std::optional<LaterRefresh> LostAnswer(const std::vector<LaterRefresh>& later, WallTime now);

// The creation time of a token: always later than that of its predecessor, even if the clocks of
// the members differ.
WallTime CreatedAfter(WallTime before, WallTime now);

}  // namespace carillon
