#include "scheduler/secrets/secret_resolver.h"

#include <fmt/format.h>

#include <optional>

#include "common/domain/run/run.h"

namespace carillon::scheduler {
namespace {

HandedSecrets Failed(std::string_view failure, std::string error) {
  return {.values = {}, .failure = std::string(failure), .error = std::move(error)};
}

// The secrets found in the store, by name.
class Found {
 public:
  Found(const std::vector<StoredSecret>& secrets, const Keyring* keys) : keys_(keys) {
    for (const StoredSecret& secret : secrets) secrets_.emplace(secret.record.name, &secret);
  }

  // Returns the decrypted value. If nullopt, `failed` has the reason.
  std::optional<std::string> Get(const std::string& name, const std::string& owner,
                                 HandedSecrets* failed) {
    const auto found = secrets_.find(name);
    if (found == secrets_.end()) {
      *failed = Failed(reason::kSecretMissing, fmt::format("unknown secret {}", name));
      return std::nullopt;
    }
    const StoredSecret& secret = *found->second;
    if (!MayUse(secret.record, owner)) {
      *failed = Failed(
          reason::kSecretForbidden,
          fmt::format("secret {} is neither owned by the owner of the job nor shared", name));
      return std::nullopt;
    }
    if (keys_ == nullptr) {
      *failed = Failed(reason::kSecretUnreadable,
                       "this member has no key for secrets (secrets.key_file)");
      return std::nullopt;
    }
    const auto value = keys_->Open(name, secret.value);
    if (value.ok()) return *value;
    *failed = Failed(reason::kSecretUnreadable, value.error().message);
    return std::nullopt;
  }

 private:
  const Keyring* keys_;
  std::map<std::string, const StoredSecret*> secrets_;
};

HandedSecrets HandOne(const WantedSecrets& wanted, Found& found) {
  HandedSecrets handed;
  size_t bytes = 0;
  for (const std::string& name : wanted.names) {
    HandedSecrets failed;
    std::optional<std::string> value = found.Get(name, wanted.owner, &failed);
    if (!value) return failed;
    bytes += value->size();
    handed.values[name] = *std::move(value);
  }
  if (bytes <= kAttemptSecretBytesMax) return handed;
  return Failed(
      reason::kSecretUnreadable,
      fmt::format("the secrets of this job have {} bytes in total; at most {} are allowed", bytes,
                  kAttemptSecretBytesMax));
}

}  // namespace

Result<std::vector<HandedSecrets>> SecretResolver::Hand(
    const std::vector<WantedSecrets>& wanted) const {
  std::set<std::string> names;
  for (const WantedSecrets& one : wanted) names.insert(one.names.begin(), one.names.end());
  CARILLON_ASSIGN_OR_RETURN(const std::vector<StoredSecret> found,
                            store_.FindSecrets({names.begin(), names.end()}));
  const std::shared_ptr<const Keyring> keys = keys_.Keys();
  Found shelf(found, keys.get());
  std::vector<HandedSecrets> handed;
  handed.reserve(wanted.size());
  for (const WantedSecrets& one : wanted) handed.push_back(HandOne(one, shelf));
  return handed;
}

}  // namespace carillon::scheduler
