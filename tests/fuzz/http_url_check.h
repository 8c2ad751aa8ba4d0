// Checks of any text given as the URL of a request; for the fuzzer and the unit test.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "common/domain/job/http_url.h"

namespace carillon::test {

// Returns a complaint; "" = all checks passed. A refusal says why. What is sent is ASCII without
// blanks, names no user, and stays as it is when it is read again.
inline std::string CheckHttpUrlText(std::string_view text) {
  const auto sent = SendableUrl(text);
  if (!sent.ok()) {
    const bool told = sent.code() == ErrorCode::kInvalid && !sent.error().message.empty();
    return told ? "" : "refused without a reason";
  }
  const bool clean = std::ranges::all_of(*sent, [](char c) { return c > ' ' && c < 0x7f; });
  if (!clean) return "a character that cannot be sent: " + *sent;
  const std::string_view host = std::string_view(*sent).substr(sent->find("://") + 3);
  if (host.substr(0, host.find_first_of("/?#")).find('@') != std::string_view::npos) {
    return "a user in " + *sent;
  }
  const auto again = SendableUrl(*sent);
  if (!again.ok() || *again != *sent) return "not the same when read again: " + *sent;
  return "";
}

}  // namespace carillon::test
