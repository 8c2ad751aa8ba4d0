// The keys of secrets of this process: from a file, or from the environment.
//
// A file that changed is read again when the keys are next asked for, so that a key is added and
// removed without a restart. One that is no good is logged once, and the keys before stay.
//
// Threads  Thread-safe. Keys() looks at the file's status, and reads it when that changed.
// Errors   Open: kUnavailable, the file cannot be read; kDenied, others than its owner could read
//          it; kInvalid, no key or both places are given.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "common/base/mutex.h"
#include "common/process/data_directory.h"
#include "scheduler/secrets/keyring.h"

namespace carillon::scheduler {

class SecretKeys final : public KeySource {
 public:
  struct Places {
    std::string file = {};         // empty: none
    std::string environment = {};  // keys, by lines or commas; empty: none
  };
  // Without either there are no keys.
  static Result<std::unique_ptr<SecretKeys>> Open(Places places);

  std::shared_ptr<const Keyring> Keys() const override;

 private:
  explicit SecretKeys(std::string file) : file_(std::move(file)) {}
  Status Read() const REQUIRES(mu_);
  bool Changed(const struct stat& status) const REQUIRES(mu_);

  const std::string file_;
  mutable Mutex mu_;
  mutable struct stat seen_ GUARDED_BY(mu_) {};
  mutable std::shared_ptr<const Keyring> keys_ GUARDED_BY(mu_);
};

// What CARILLON_SECRETS_KEY holds; processes that are started from here on do not inherit it.
std::string TakeSecretsEnvironment();

// The file `secrets.key` of the directory, made with a new key where there is none.
Result<std::string> EnsureSecretKeyFile(const process::DataDirectory& directory);

}  // namespace carillon::scheduler
