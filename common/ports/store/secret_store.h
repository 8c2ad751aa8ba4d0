// Port of secrets. Members encrypt a secret before they store it, and only members have the keys.
//
// Always   Stored values are ciphertext.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/ports/store/bounded_count.h"

namespace carillon {

struct SealedValue {
  std::string key_id;      // the key that encrypted it
  std::string nonce;       // bytes
  std::string ciphertext;  // bytes

  bool operator==(const SealedValue&) const = default;
};

// The visible properties of a secret.
struct SecretRecord {
  std::string name;
  std::string description = {};
  std::string user_id = {};  // owner
  bool shared = false;       // jobs of every user may use it
  int64_t version = 1;       // increases with each change, except a re-encryption
  std::string key_id = {};
  WallTime created = WallTime{};
  WallTime updated = WallTime{};

  bool operator==(const SecretRecord&) const = default;
};

struct StoredSecret {
  SecretRecord record;  // record.key_id is that of the value
  SealedValue value;
};

// True if a job of this owner may use the secret.
inline bool MayUse(const SecretRecord& secret, const std::string& job_owner) {
  return secret.shared || (!secret.user_id.empty() && secret.user_id == job_owner);
}

struct SecretFilter {
  std::string after_name = {};                    // cursor, ascending
  std::optional<std::string> not_under_key = {};  // only secrets encrypted with another key
  size_t limit = 50;
};

class SecretStore {
 public:
  virtual ~SecretStore() = default;

  // kExists: the name is taken.
  virtual Status CreateSecret(const StoredSecret& secret) = 0;
  virtual Result<StoredSecret> GetSecret(const std::string& name) = 0;
  // Sorted by name; unknown names are left out.
  virtual Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) = 0;
  virtual Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) = 0;
  virtual Result<BoundedCount> CountSecrets() = 0;
  // Writes value, description and shared if the stored version is `wanted.record.version`; returns
  // the new record. kConflict: another version. kNotFound.
  virtual Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) = 0;
  virtual Status DeleteSecret(const std::string& name, int64_t expected_version) = 0;
  // Replaces the stored value `from` by the same value encrypted with another key. kConflict: the
  // stored value is no longer `from`. kNotFound.
  virtual Status RewrapSecret(const std::string& name, const SealedValue& from,
                              const SealedValue& to) = 0;
};

}  // namespace carillon
