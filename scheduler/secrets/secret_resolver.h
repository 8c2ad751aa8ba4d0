// Hands the secrets of jobs to their runs.
//
// Place    Step 7 of docs/life-of-a-run.md, after the claim was accepted.
// Threads  Thread-safe; Hand blocks on the store.
// Errors   Hand: the store's, for all. What concerns one run is its failure.
// Always   A run gets what its job names and its job's owner may use at this moment, or nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/domain/secret_text.h"
#include "common/ports/secret_store.h"
#include "scheduler/secrets/keyring.h"

namespace carillon::scheduler {

struct WantedSecrets {
  std::string owner;  // of the job
  std::set<std::string> names;
};

struct HandedSecrets {
  SecretValues values = {};
  std::string failure = {};  // reason::kSecret…; empty: here they are
  std::string error = {};    // a sentence, without values
};

class SecretResolver {
 public:
  SecretResolver(SecretStore& store, const KeySource& keys) : store_(store), keys_(keys) {}

  // In the order of `wanted`.
  Result<std::vector<HandedSecrets>> Hand(const std::vector<WantedSecrets>& wanted) const;

 private:
  SecretStore& store_;
  const KeySource& keys_;
};

}  // namespace carillon::scheduler
