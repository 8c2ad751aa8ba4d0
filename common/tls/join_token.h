// Token that an administrator hands to a new executor: a one-time secret, and the authority whose
// members may see it. One line of text.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::tls {

struct JoinToken {
  std::string secret;     // [A-Za-z0-9_-]+
  std::string authority;  // PEM

  std::string Text() const;
  // kInvalid: not the text of one.
  static Result<JoinToken> Parse(const std::string& text);
};

}  // namespace carillon::tls
