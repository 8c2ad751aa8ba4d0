// Parses the target of a request ("/api/jobs/a%20b?state=FAILED"). Pure.
//
// Errors   kInvalid: the target is not an absolute path, or contains
//          - an invalid or truncated escape,
//          - a control character, such as NUL,
//          - bytes that are not UTF-8, such as overlong forms and surrogates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace carillon {

struct HttpTarget {
  std::vector<std::string> segments;                       // decoded after splitting at '/'
  std::vector<std::pair<std::string, std::string>> query;  // '+' is a space, as in forms
};

inline constexpr size_t kQueryParametersMax = 200;
// Drops a fragment. More than kQueryParametersMax parameters are kInvalid.
Result<HttpTarget> ParseHttpTarget(std::string_view target);

// The inverse of decoding, for clients: escapes everything except unreserved characters.
std::string PercentEncode(std::string_view text);

bool IsValidUtf8(std::string_view text);
// True if `text` has an ASCII control character, such as NUL or a line break.
bool HasControl(std::string_view text);

}  // namespace carillon
