// Decides whether a refresh token that is presented a second time was stolen, or only repeated
// because the answer to its first use was lost.
//
// Why      A page that is left between its request and the answer (reloaded twice, a cut
//          connection) keeps the cookie that it has just spent, and presents it again. So does a
//          thief. Only a client that never received the successor has a reason to come back at
//          once: then a new successor replaces the one that nobody has presented.
// Always   Two holders of tokens of one family are found out: once one of them has presented a
//          successor, or kLostAnswerMax has passed, a token that comes a second time is a theft.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace carillon {

// The time after its first exchange in which a token may be presented again.
inline constexpr std::chrono::seconds kLostAnswerMax{10};

// The numbers are those of the store.
enum class RefreshUse {
  kNone = 0,
  kPresented = 1,  // and exchanged
  kReplaced = 2,   // given out in an answer that was lost; another took its place
};

// A token of the same family, made after the one that is presented a second time.
struct LaterRefresh {
  std::string token_hash;
  WallTime created;
  RefreshUse use = RefreshUse::kNone;
};

// The token whose answer was lost and which a new one replaces; nullopt: a theft.
std::optional<LaterRefresh> LostAnswer(const std::vector<LaterRefresh>& later, WallTime now);

// The creation time of a token: later than that of the one before it, even where the clocks of the
// members differ.
WallTime CreatedAfter(WallTime before, WallTime now);

}  // namespace carillon
