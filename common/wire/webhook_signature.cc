#include "common/wire/webhook_signature.h"

#include <fmt/core.h>
#include <sodium.h>

#include <array>

#include "common/wire/base64.h"

namespace carillon {
namespace {

constexpr std::string_view kPrefix = "whsec_";
constexpr size_t kKeyBytesMin = 24;
constexpr size_t kKeyBytesMax = 64;
constexpr size_t kSecretsMax = 2;

const unsigned char* Unsigned(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string MacOf(const std::string& key, std::string_view text) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, Unsigned(key), key.size());
  crypto_auth_hmacsha256_update(&state, Unsigned(text), text.size());
  std::array<unsigned char, crypto_auth_hmacsha256_BYTES> mac{};
  crypto_auth_hmacsha256_final(&state, mac.data());
  return Base64({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

}  // namespace

Result<std::string> ParseWebhookSecret(std::string_view text) {
  const Error bad{ErrorCode::kInvalid,
                  "a webhook secret must be whsec_ and base64 of 24 to 64 random bytes"};
  if (!text.starts_with(kPrefix)) return bad;
  text.remove_prefix(kPrefix.size());
  std::array<unsigned char, kKeyBytesMax> key{};
  size_t bytes = 0;
  const char* end = nullptr;
  const int decoded = sodium_base642bin(key.data(), key.size(), text.data(), text.size(), nullptr,
                                        &bytes, &end, sodium_base64_VARIANT_ORIGINAL);
  if (decoded != 0 || end != text.data() + text.size() || bytes < kKeyBytesMin) return bad;
  return std::string(reinterpret_cast<const char*>(key.data()), bytes);
}

Result<std::vector<std::string>> ParseWebhookSecrets(std::string_view text) {
  std::vector<std::string> secrets;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty()) continue;
    CARILLON_ASSIGN_OR_RETURN(std::string secret, ParseWebhookSecret(line));
    secrets.push_back(std::move(secret));
  }
  if (!secrets.empty() && secrets.size() <= kSecretsMax) return secrets;
  return Error{
      ErrorCode::kInvalid,
      fmt::format("the file has {} webhook secrets; it must have one, or two during a rotation",
                  secrets.size())};
}

std::string SignWebhook(const std::vector<std::string>& secrets, const WebhookContent& content) {
  const std::string text = fmt::format("{}.{}.{}", content.id, content.timestamp_s, content.body);
  std::string header;
  for (const std::string& secret : secrets) {
    header += (header.empty() ? "v1," : " v1,") + MacOf(secret, text);
  }
  return header;
}

}  // namespace carillon
