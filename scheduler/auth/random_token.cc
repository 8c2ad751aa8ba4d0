#include "scheduler/auth/random_token.h"

#include <sodium.h>

#include <array>

#include "common/base/check.h"

namespace carillon::scheduler {
namespace {

std::string Hex(const unsigned char* bytes, size_t size) {
  std::string hex(size * 2 + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), bytes, size);
  hex.pop_back();
  return hex;
}

}  // namespace

void StartSodium() {
  static const int ready = sodium_init();
  CARILLON_CHECK(ready >= 0, "sodium_init");
}

std::string RandomBytes(size_t bytes) {
  StartSodium();
  std::string random(bytes, '\0');
  randombytes_buf(random.data(), random.size());
  return random;
}

std::string RandomText(size_t bytes) {
  const std::string random = RandomBytes(bytes);
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes, kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(random.data()),
                    random.size(), kVariant);
  text.pop_back();
  return text;
}

std::string RandomHex(size_t bytes) {
  const std::string random = RandomBytes(bytes);
  return Hex(reinterpret_cast<const unsigned char*>(random.data()), random.size());
}

std::string HashSecret(std::string_view secret) {
  StartSodium();
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash(hash.data(), hash.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), nullptr,
                     0);
  return Hex(hash.data(), hash.size());
}

bool SameText(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace carillon::scheduler
