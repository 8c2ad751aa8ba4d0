// The keys that seal (encrypt) secrets, with XChaCha20-Poly1305 and a random nonce. The first key
// seals new values. The other keys still open the values that were sealed with them, so that keys
// can be rotated while all secrets stay readable. The name of a secret is authenticated with its
// value. So a value that was copied to another secret cannot be opened.
//
// Threads  Immutable.
// Errors   Parse: kInvalid, naming the line but not its text. Open: kNotFound if the value's key is
//          not in this keyring; kCorrupt if the value or the name is not the one that was sealed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ports/store/secret_store.h"

namespace carillon::scheduler {

class Keyring {
 public:
  static constexpr size_t kKeyBytes = 32;
  static constexpr size_t kKeysMax = 16;

  // One key per line, as 64 hex digits or base64. Blank lines and lines that begin with # are
  // ignored.
  static Result<Keyring> Parse(std::string_view text);
  // A new random key, in the form that Parse reads.
  static std::string NewKey();
  ~Keyring();
  Keyring(Keyring&&) noexcept = default;
  Keyring& operator=(Keyring&&) noexcept = default;
  Keyring(const Keyring&) = delete;
  Keyring& operator=(const Keyring&) = delete;

  SealedValue Seal(std::string_view name, std::string_view value) const;
  Result<std::string> Open(std::string_view name, const SealedValue& sealed) const;

  // The id of the key that seals. The id reveals nothing about the key.
  const std::string& current() const { return keys_.front().id; }
  bool Has(const std::string& key_id) const { return Find(key_id) != nullptr; }
  size_t size() const { return keys_.size(); }

 private:
  struct Key {
    std::string id;
    std::string bytes;
  };
  Keyring() = default;
  const Key* Find(const std::string& key_id) const;

  std::vector<Key> keys_;
};

// Provides the keys, which may change while the process runs.
class KeySource {
 public:
  virtual ~KeySource() = default;
  // Null if this process has no keys. Thread-safe. The pointer is shared, so that a caller can
  // finish its work with a keyring that was replaced meanwhile.
  virtual std::shared_ptr<const Keyring> Keys() const = 0;
};

// Keys that never change; null for none.
class FixedKeys final : public KeySource {
 public:
  explicit FixedKeys(std::shared_ptr<const Keyring> keys) : keys_(std::move(keys)) {}
  std::shared_ptr<const Keyring> Keys() const override { return keys_; }

 private:
  const std::shared_ptr<const Keyring> keys_;
};

}  // namespace carillon::scheduler
