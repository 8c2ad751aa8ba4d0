// Checks whether a text can be an id. Ids are stored in ASCII columns, and the server refuses to
// compare such a column with other text (error 1267). No id equals a text that is not ASCII, so a
// caller need not search for such a text.
#pragma once

#include <algorithm>
#include <string_view>

namespace carillon::mysql {

inline bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

}  // namespace carillon::mysql
