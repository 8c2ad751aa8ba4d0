// Cuts a long message of the control link into pieces, and puts pieces together again. Heartbeats
// go between the pieces, so that a checkpoint on a slow line does not cost the leases of its
// executor.
//
// Errors   Take: kCorrupt for bytes that are no piece although they look like one, and for too many
//          of one message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kPieceBytes = size_t{64} << 10;

// The pieces of an encoded message, of either direction.
std::vector<std::string> CutIntoPieces(std::string_view message);

// The pieces that one stream has brought of a message.
class PieceJoiner {
 public:
  // Returns a message that is whole: `bytes` themselves if they are no piece. nullopt: more
  // pieces follow.
  Result<std::optional<std::string>> Take(std::string bytes);

 private:
  std::string begun_;
};

}  // namespace carillon
