// The keys that seal secrets: XChaCha20-Poly1305 with a random nonce. The first key seals, every
// key opens what it sealed, so that keys are changed without a moment at which something cannot be
// read. The name of a secret is authenticated with its value: a value that is moved to another row
// does not open.
//
// Threads  Not changed after its construction.
// Errors   Parse: kInvalid, with the line, never with its text. Open: kNotFound, there is no such
//          key here; kCorrupt, it is not what was sealed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/ports/secret_store.h"

namespace carillon::scheduler {

class Keyring {
 public:
  static constexpr size_t kKeyBytes = 32;
  static constexpr size_t kKeysMax = 16;

  // A key in each line, as 64 hex digits or base64;
  // blank lines and lines that begin with # are nothing.
  static Result<Keyring> Parse(std::string_view text);
  // A line with a new key.
  static std::string NewKey();
  ~Keyring();
  Keyring(Keyring&&) noexcept = default;
  Keyring& operator=(Keyring&&) noexcept = default;
  Keyring(const Keyring&) = delete;
  Keyring& operator=(const Keyring&) = delete;

  SealedValue Seal(std::string_view name, std::string_view value) const;
  Result<std::string> Open(std::string_view name, const SealedValue& sealed) const;

  // Of the key that seals; says nothing about the key itself.
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

// Where the keys come from; they may change while the process runs.
class KeySource {
 public:
  virtual ~KeySource() = default;
  // Null: this process has none. Thread-safe. shared: whoever works with them keeps them meanwhile.
  virtual std::shared_ptr<const Keyring> Keys() const = 0;
};

// The same from start to end, or none.
class FixedKeys final : public KeySource {
 public:
  explicit FixedKeys(std::shared_ptr<const Keyring> keys) : keys_(std::move(keys)) {}
  std::shared_ptr<const Keyring> Keys() const override { return keys_; }

 private:
  const std::shared_ptr<const Keyring> keys_;
};

}  // namespace carillon::scheduler
