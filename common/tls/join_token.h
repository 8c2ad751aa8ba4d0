// Token that an administrator gives to a new executor: a one-time secret, and the certificate of
// the authority whose members may receive it. One line of text.
#pragma once

#include <string>

#include "common/base/result.h"

namespace carillon::tls {

struct JoinToken {
  std::string secret;     // [A-Za-z0-9_-]+
  std::string authority;  // PEM

  std::string Text() const;
  // kInvalid: not a join token.
  static Result<JoinToken> Parse(const std::string& text);
};

}  // namespace carillon::tls
