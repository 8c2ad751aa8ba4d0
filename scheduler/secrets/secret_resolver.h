// Decrypts, for each run, the secrets that its job names.
//
// Place    Step 7 of docs/life-of-a-run.md, after the claim was accepted.
// Threads  Thread-safe; Hand blocks on the store.
// Errors   Hand: the store's error fails the whole call. A problem with one run's secrets is
//          reported in its HandedSecrets::failure.
// Always   If the job's owner may use all secrets that the job names at this moment, the run gets
//          all of them. Otherwise the run gets none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/domain/secret_text.h"
#include "common/ports/store/secret_store.h"
#include "scheduler/secrets/keyring.h"

namespace carillon::scheduler {

// The secrets that one run needs.
struct WantedSecrets {
  std::string owner;            // of the job
  std::set<std::string> names;  // of the secrets
};

// The answer for one run: the values, or the reason why there are none.
struct HandedSecrets {
  SecretValues values = {};
  std::string failure = {};  // reason::kSecret…; empty = success
  std::string error = {};    // a sentence for people; never contains values
};

class SecretResolver {
 public:
  SecretResolver(SecretStore& store, const KeySource& keys) : store_(store), keys_(keys) {}

  // One answer per element of `wanted`, in the same order.
  Result<std::vector<HandedSecrets>> Hand(const std::vector<WantedSecrets>& wanted) const;

 private:
  SecretStore& store_;
  const KeySource& keys_;
};

}  // namespace carillon::scheduler
