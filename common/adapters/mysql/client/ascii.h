// Ids are in ASCII columns, and the server refuses to compare one with a text that is not (1267):
// such a text, which only a caller's guess can be, is nothing's id and is not asked for.
#pragma once

#include <algorithm>
#include <string_view>

namespace carillon::mysql {

inline bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; });
}

}  // namespace carillon::mysql
