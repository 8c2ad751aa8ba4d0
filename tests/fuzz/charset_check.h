// Checks of any bytes decoded from any character set; shared by the fuzzer and the unit test.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/base/charset.h"
#include "common/domain/job_text.h"

namespace carillon::test {

inline constexpr std::array kFuzzedCharsets{
    "utf-8",        "utf-16",       "utf-16le",     "utf-16be",     "utf-32",       "gb18030",
    "big5",         "shift_jis",    "euc-jp",       "iso-2022-jp",  "euc-kr",       "iso-8859-1",
    "iso-8859-2",   "iso-8859-3",   "iso-8859-4",   "iso-8859-5",   "iso-8859-6",   "iso-8859-7",
    "iso-8859-8",   "iso-8859-9",   "iso-8859-10",  "iso-8859-11",  "iso-8859-13",  "iso-8859-14",
    "iso-8859-15",  "iso-8859-16",  "windows-874",  "windows-1250", "windows-1251", "windows-1252",
    "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
    "koi8-r",       "koi8-u",       "macintosh",    "ibm437",       "ibm850",       "ibm852",
    "ibm866"};

// Returns a complaint; empty = all checks passed. The result is UTF-8 and the same in whatever
// pieces of `piece` to 2 * `piece` bytes the decoder gets it.
inline std::string CheckCharset(std::string_view bytes, std::string_view name, size_t piece) {
  const auto whole = ToUtf8(bytes, name);
  auto decoder = CharsetDecoder::Open(name);
  if (!whole.ok() || !decoder.ok()) return "not installed: " + std::string(name);
  if (!CountUtf8(*whole)) return "no UTF-8 of " + std::string(name);
  std::string joined;
  for (size_t at = 0, size = piece; at < bytes.size(); at += size) {
    size = piece + at % (piece + 1);
    const std::string part = decoder->Feed(bytes.substr(at, size));
    if (!CountUtf8(part)) return "half a character of " + std::string(name);
    joined += part;
  }
  joined += decoder->End();
  return joined == *whole ? "" : "pieces differ: " + std::string(name);
}

}  // namespace carillon::test
