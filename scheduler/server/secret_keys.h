// This process's keys for secrets, from a file or from the environment.
//
// A changed file is read again at the next call of Keys(). So keys can be added and removed without
// a restart. If the file is unusable, that is logged once, and the previous keys stay in use.
//
// Threads  Thread-safe. Keys() calls stat on the file, and reads the file if its status changed.
// Errors   Open:
//          - kUnavailable: the file cannot be read;
//          - kDenied: users other than its owner can access the file;
//          - kInvalid: the file or the environment variable has no usable key, or both are given.
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
    std::string file = {};         // empty = none
    std::string environment = {};  // the keys, separated by newlines or commas; empty = none
  };
  // If both places are empty, there are no keys.
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

// Returns the value of CARILLON_SECRETS_KEY and removes it from the environment. So child processes
// do not inherit it.
std::string TakeSecretsEnvironment();

// Returns the path of the file `secrets.key` in the directory. If the file does not exist, creates
// it with a new key.
Result<std::string> EnsureSecretKeyFile(const process::DataDirectory& directory);

}  // namespace carillon::scheduler
