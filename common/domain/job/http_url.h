// URLs of http jobs: which ones a request may have, and the form in which they are sent. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kHttpUrlBytesMax = 8'192;

// kInvalid, with the end of a sentence: no URL that a request may have. Templates pass.
Status CheckHttpUrl(std::string_view url);

// `url` as it is sent: a name that is not ASCII in its IDNA form (xn--…), and in path and query
// what RFC 3986 does not permit (blanks, letters beyond ASCII, braces) percent-encoded, as a
// browser does. %XX stays. kInvalid, with the end of a sentence: nothing can be sent there.
Result<std::string> SendableUrl(std::string_view url);

// kInvalid: not "name", "name:port", or either with an address.
Status CheckHostHeader(std::string_view host);

}  // namespace carillon
