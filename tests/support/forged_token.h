// Forges JWTs, for tests which check that such tokens are refused.
#pragma once

#include <sodium.h>

#include <string>

namespace carillon::test {

inline std::string Base64Url(const std::string& bytes) {
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                    bytes.size(), kVariant);
  text.pop_back();
  return text;
}

// `key`: the 32 bytes that sign the token (HS256); empty = no signature.
inline std::string ForgeToken(const std::string& header, const std::string& payload,
                              const std::string& key) {
  const std::string text = Base64Url(header) + "." + Base64Url(payload);
  if (key.empty()) return text + ".";
  std::string signature(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256(reinterpret_cast<unsigned char*>(signature.data()),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                         reinterpret_cast<const unsigned char*>(key.data()));
  return text + "." + Base64Url(signature);
}

}  // namespace carillon::test
