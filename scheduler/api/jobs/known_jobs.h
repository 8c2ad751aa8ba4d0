// The jobs to which the documents of a list refer. One look-up finds them all, so that the store
// need not be read for each document.
//
// Threads  One request owns it.
// Errors   Jobs that could not be looked up are unknown; the caller then reads the store, which
//          reports the error.
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

  // Replaces everything that was known.
  void LookUp(JobStore& store, const JobKeys& keys);
  // Call it after a write. The job and its name are unknown afterwards.
  void Forget(const JobId& id, const JobDefinition& definition);

  // True if it is known that no job has this id, not even a deleted one.
  bool IsFree(const JobId& id) const;
  // nullptr: unknown, deleted, or not decodable.
  const StoredJob* Find(const JobId& id) const;
  // The jobs with this name, sorted by job_id; nullopt: unknown.
  std::optional<std::vector<StoredJob>> OfName(const FullName& name) const;

 private:
  enum class Id { kFree, kTaken };
  std::map<JobId, Id> ids_;
  std::map<FullName, std::vector<JobId>> names_;
  std::map<JobId, StoredJob> jobs_;
};

}  // namespace carillon::scheduler
