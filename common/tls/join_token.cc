#include "common/tls/join_token.h"

#include <algorithm>
#include <string_view>

#include "common/tls/certificates.h"

namespace carillon::tls {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----\n";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";
constexpr size_t kLine = 64;  // characters, as in PEM

}  // namespace

std::string JoinToken::Text() const {
  std::string body = authority.substr(kBegin.size(), authority.find(kEnd) - kBegin.size());
  std::erase(body, '\n');
  return secret + ":" + body;
}

Result<JoinToken> JoinToken::Parse(const std::string& text) {
  const Error bad{ErrorCode::kInvalid, "not a join token"};
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0) return bad;
  JoinToken token{.secret = text.substr(0, colon), .authority = std::string(kBegin)};
  for (size_t at = colon + 1; at < text.size(); at += kLine) {
    token.authority += text.substr(at, kLine) + "\n";
  }
  token.authority += kEnd;
  const auto info = Describe(token.authority);
  if (!info.ok() || !info->authority) return bad;
  return token;
}

}  // namespace carillon::tls
