// True if a text can be an id: ids are stored in ASCII columns. The server refuses to compare such
// a column with text that is not ASCII (1267). No id equals such a text, so a caller need not look
// it up.
#pragma once

#include <algorithm>
#include <string_view>

namespace carillon::mysql {

inline bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

}  // namespace carillon::mysql
