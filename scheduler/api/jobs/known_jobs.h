// The jobs that the documents of a list refer to, found by one look-up, so that the store need not
// be asked for each document.
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
  // Call it after a write: neither the job nor its name is known any more.
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
