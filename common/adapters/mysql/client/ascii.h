// Tells whether a text can be an id. Ids are stored in ASCII columns, and the server refuses to
// compare such a column with text that is not ASCII (1267). Such a text comes only from a caller,
// is the id of nothing, and is not looked up.
#pragma once

#include <algorithm>
#include <string_view>

namespace carillon::mysql {

inline bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

}  // namespace carillon::mysql
