#include "scheduler/secrets/keyring.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>

#include "common/base/check.h"

namespace carillon::scheduler {
namespace {

constexpr std::string_view kIdTag = "carillon.secret.key.v1";
constexpr std::string_view kValueTag = "carillon.secret.v1";
constexpr size_t kIdBytes = 8;

static_assert(Keyring::kKeyBytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

void RequireSodium() {
  static const int ready = sodium_init();
  CARILLON_CHECK(ready >= 0, "sodium_init");
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

std::string KeyId(const std::string& key) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash{};
  crypto_generichash(hash.data(), hash.size(), Bytes(kIdTag), kIdTag.size(), Bytes(key),
                     key.size());
  std::string id(2 * kIdBytes + 1, '\0');
  sodium_bin2hex(id.data(), id.size(), hash.data(), kIdBytes);
  id.pop_back();
  return id;
}

// Returns the key's bytes; empty if the line is not a key.
std::string DecodeKey(std::string_view line) {
  std::string key(Keyring::kKeyBytes, '\0');
  size_t size = 0;
  const char* end = nullptr;
  const auto whole = [&] { return size == key.size() && end == line.data() + line.size(); };
  if (sodium_hex2bin(Bytes(key), key.size(), line.data(), line.size(), nullptr, &size, &end) == 0 &&
      whole()) {
    return key;
  }
  for (const int variant :
       {sodium_base64_VARIANT_ORIGINAL, sodium_base64_VARIANT_ORIGINAL_NO_PADDING,
        sodium_base64_VARIANT_URLSAFE, sodium_base64_VARIANT_URLSAFE_NO_PADDING}) {
    if (sodium_base642bin(Bytes(key), key.size(), line.data(), line.size(), nullptr, &size, &end,
                          variant) == 0 &&
        whole()) {
      return key;
    }
  }
  return {};
}

std::string_view Trimmed(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

// The additional data that is authenticated with the value.
std::string Context(std::string_view name) { return fmt::format("{}\n{}", kValueTag, name); }

}  // namespace

Result<Keyring> Keyring::Parse(std::string_view text) {
  RequireSodium();
  Keyring ring;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    Key key{.id = {}, .bytes = DecodeKey(line)};
    if (key.bytes.empty()) {
      return {ErrorCode::kInvalid,
              fmt::format("line {} is not a key (32 bytes as hex or base64)", number)};
    }
    key.id = KeyId(key.bytes);
    if (ring.Has(key.id)) {
      return {ErrorCode::kInvalid, fmt::format("line {} repeats a key", number)};
    }
    ring.keys_.push_back(std::move(key));
    if (ring.size() > kKeysMax) {
      return {ErrorCode::kInvalid, fmt::format("there are more than {} keys", kKeysMax)};
    }
  }
  if (ring.keys_.empty()) return {ErrorCode::kInvalid, "it contains no key"};
  return ring;
}

std::string Keyring::NewKey() {
  RequireSodium();
  std::string key(kKeyBytes, '\0');
  randombytes_buf(key.data(), key.size());
  std::string text(sodium_base64_encoded_len(kKeyBytes, sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), Bytes(key), key.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();
  sodium_memzero(key.data(), key.size());
  return text;
}

Keyring::~Keyring() {
  for (Key& key : keys_) sodium_memzero(key.bytes.data(), key.bytes.size());
}

const Keyring::Key* Keyring::Find(const std::string& key_id) const {
  for (const Key& key : keys_) {
    if (key.id == key_id) return &key;
  }
  return nullptr;
}

SealedValue Keyring::Seal(std::string_view name, std::string_view value) const {
  const Key& key = keys_.front();
  const std::string context = Context(name);
  SealedValue sealed{.key_id = key.id, .nonce = {}, .ciphertext = {}};
  sealed.nonce.resize(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
  randombytes_buf(sealed.nonce.data(), sealed.nonce.size());
  sealed.ciphertext.resize(value.size() + crypto_aead_xchacha20poly1305_ietf_ABYTES);
  crypto_aead_xchacha20poly1305_ietf_encrypt(Bytes(sealed.ciphertext), nullptr, Bytes(value),
                                             value.size(), Bytes(context), context.size(), nullptr,
                                             Bytes(sealed.nonce), Bytes(key.bytes));
  return sealed;
}

Result<std::string> Keyring::Open(std::string_view name, const SealedValue& sealed) const {
  const Key* key = Find(sealed.key_id);
  if (key == nullptr) {
    return {ErrorCode::kNotFound,
            fmt::format("secret {} was encrypted with key {}, which is not configured", name,
                        sealed.key_id)};
  }
  const std::string context = Context(name);
  const Error corrupt{ErrorCode::kCorrupt, fmt::format("secret {} cannot be decrypted", name)};
  if (sealed.nonce.size() != crypto_aead_xchacha20poly1305_ietf_NPUBBYTES ||
      sealed.ciphertext.size() < crypto_aead_xchacha20poly1305_ietf_ABYTES) {
    return corrupt;
  }
  std::string value(sealed.ciphertext.size() - crypto_aead_xchacha20poly1305_ietf_ABYTES, '\0');
  const int opened = crypto_aead_xchacha20poly1305_ietf_decrypt(
      Bytes(value), nullptr, nullptr, Bytes(sealed.ciphertext), sealed.ciphertext.size(),
      Bytes(context), context.size(), Bytes(sealed.nonce), Bytes(key->bytes));
  if (opened != 0) return corrupt;
  return value;
}

}  // namespace carillon::scheduler
