// Secrets as the store keeps them: sealed by the members, which alone have the keys.
//
// Always   What comes here as a value is ciphertext.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon {

struct SealedValue {
  std::string key_id;      // which key opens it
  std::string nonce;       // bytes
  std::string ciphertext;  // bytes

  bool operator==(const SealedValue&) const = default;
};

// Everything that may be shown of a secret.
struct SecretRecord {
  std::string name;
  std::string description = {};
  std::string user_id = {};  // whose it is
  bool shared = false;       // jobs of everybody may use it
  int64_t version = 1;       // moves with each change; not when it is sealed anew
  std::string key_id = {};
  WallTime created = WallTime{};
  WallTime updated = WallTime{};

  bool operator==(const SecretRecord&) const = default;
};

struct StoredSecret {
  SecretRecord record;  // its key_id is the value's
  SealedValue value;
};

// Whether a job of this owner may use it.
inline bool MayUse(const SecretRecord& secret, const std::string& job_owner) {
  return secret.shared || (!secret.user_id.empty() && secret.user_id == job_owner);
}

struct SecretFilter {
  std::string after_name = {};                    // cursor, ascending
  std::optional<std::string> not_under_key = {};  // those that another key sealed
  size_t limit = 50;
};

class SecretStore {
 public:
  virtual ~SecretStore() = default;

  // kExists: the name is taken.
  virtual Status CreateSecret(const StoredSecret& secret) = 0;
  virtual Result<StoredSecret> GetSecret(const std::string& name) = 0;
  // By name; those that do not exist are left out.
  virtual Result<std::vector<StoredSecret>> FindSecrets(const std::vector<std::string>& names) = 0;
  virtual Result<std::vector<SecretRecord>> ListSecrets(const SecretFilter& filter) = 0;
  // Writes value, description and shared of a secret whose version is still the wanted one's;
  // returns it as it is then. kConflict: another version is. kNotFound.
  virtual Result<SecretRecord> UpdateSecret(const StoredSecret& wanted, WallTime now) = 0;
  virtual Status DeleteSecret(const std::string& name, int64_t expected_version) = 0;
  // The same value under another key. kConflict: it is not `from` any more. kNotFound.
  virtual Status RewrapSecret(const std::string& name, const SealedValue& from,
                              const SealedValue& to) = 0;
};

}  // namespace carillon
