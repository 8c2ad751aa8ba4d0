// Jobs of a list as one look-up found them, so that
// its documents need not ask the store one by one.
//
// Threads  One request owns it.
// Errors   What could not be looked up is not known: the caller asks the store, which says why.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/ports/store/job_store.h"

namespace carillon::scheduler {

class KnownJobs {
 public:
  using FullName = std::pair<std::string, std::string>;  // namespace, name

  // In place of all that was known.
  void LookUp(JobStore& store, const JobKeys& keys);
  // After a write: neither the job nor its name is known any more.
  void Forget(const JobId& id, const JobDefinition& definition);

  // No job has it, nor had one that was deleted.
  bool IsFree(const JobId& id) const;
  // nullptr: not known, or not a live job that can be read.
  const StoredJob* Find(const JobId& id) const;
  // By job_id; nullopt: not known.
  std::optional<std::vector<StoredJob>> OfName(const FullName& name) const;

 private:
  enum class Id { kFree, kTaken };
  std::map<JobId, Id> ids_;
  std::map<FullName, std::vector<JobId>> names_;
  std::map<JobId, StoredJob> jobs_;
};

}  // namespace carillon::scheduler
