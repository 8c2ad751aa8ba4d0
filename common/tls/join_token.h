// Token that an administrator gives to a new executor, as one line of text. It contains a one-time
// secret and the certificate of an authority: the executor sends the secret only to members whose
// certificates this authority has signed.
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
