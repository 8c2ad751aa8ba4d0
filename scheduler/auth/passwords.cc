#include "scheduler/auth/passwords.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

#include "scheduler/auth/random_token.h"

namespace carillon::scheduler {
namespace {

constexpr std::array<std::string_view, 16> kWellKnown = {
    "1234567890", "0123456789",  "12345678910",      "123456789012",
    "password12", "password123", "password1234",     "passwordpassword",
    "qwertyuiop", "1q2w3e4r5t",  "qwerty12345",      "administrator",
    "admin12345", "admin123456", "carilloncarillon", "letmein123",
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

const char* const kNobodysPassword =
    "$argon2id$v=19$m=65536,t=3,p=1$uPsKh5tGr1t6xcIFzDN7Ww$luXZ9QwxYffmG/"
    "AnsalNdXTeIBA6FuxANh7EaGz+Ksw";

Status CheckUserName(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kUserNameCharactersMax &&
                    IsLetterOrDigit(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
                      return IsLetterOrDigit(c) || c == '.' || c == '_' || c == '@' || c == '-';
                    });
  if (fits) return {};
  return {ErrorCode::kInvalid, fmt::format("A name must have 1 to {} characters of a-z, A-Z, 0-9 "
                                           "and ._@-, beginning with a letter or digit.",
                                           kUserNameCharactersMax)};
}

Status CheckPassword(std::string_view name, std::string_view password) {
  const size_t characters = Characters(password);
  if (characters < kPasswordCharactersMin || characters > kPasswordCharactersMax) {
    return {ErrorCode::kInvalid, fmt::format("A password must have {} to {} characters.",
                                             kPasswordCharactersMin, kPasswordCharactersMax)};
  }
  const std::string lower = Lower(password);
  if (lower == Lower(name)) return {ErrorCode::kInvalid, "The password must differ from the name."};
  const bool repeated = lower.find_first_not_of(lower[0]) == std::string::npos;
  if (repeated || std::find(kWellKnown.begin(), kWellKnown.end(), lower) != kWellKnown.end()) {
    return {ErrorCode::kInvalid, "This password is too common. Choose another."};
  }
  return {};
}

Result<std::string> HashPassword(const std::string& password) {
  StartSodium();
  std::array<char, crypto_pwhash_STRBYTES> hash{};
  if (crypto_pwhash_str_alg(hash.data(), password.data(), password.size(), kPasswordPasses,
                            kPasswordMemoryBytes, crypto_pwhash_ALG_ARGON2ID13) != 0) {
    return {ErrorCode::kExhausted, "hash password: no memory"};
  }
  return std::string(hash.data());
}

bool VerifyPassword(const std::string& hash, const std::string& password) {
  StartSodium();
  if (hash.size() >= crypto_pwhash_STRBYTES) return false;
  std::array<char, crypto_pwhash_STRBYTES> kept{};
  std::copy(hash.begin(), hash.end(), kept.begin());
  return crypto_pwhash_str_verify(kept.data(), password.data(), password.size()) == 0;
}

}  // namespace carillon::scheduler
