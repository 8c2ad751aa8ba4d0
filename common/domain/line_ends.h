// Line ends and byte order marks of texts that were written on another system. Pure.
#pragma once

#include <string>
#include <string_view>

namespace carillon {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The text without the CRs at the ends of its lines. A CR elsewhere stays.
inline std::string WithUnixLines(std::string text) {
  size_t kept = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      while (kept > 0 && text[kept - 1] == '\r') --kept;
    }
    text[kept++] = text[i];
  }
  while (kept > 0 && text[kept - 1] == '\r') --kept;
  text.resize(kept);
  return text;
}

// The text without byte order marks at its begin.
inline std::string WithoutByteOrderMark(std::string text) {
  while (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace carillon
