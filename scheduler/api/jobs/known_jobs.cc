#include "scheduler/api/jobs/known_jobs.h"

#include <algorithm>

namespace carillon::scheduler {

void KnownJobs::LookUp(JobStore& store, const JobKeys& keys) {
  ids_.clear();
  names_.clear();
  jobs_.clear();
  auto found = store.FindJobs(keys);
  if (!found.ok()) return;
  for (const JobId& id : keys.ids) {
    ids_[id] = found->taken.contains(id) ? Id::kTaken : Id::kFree;
  }
  for (const FullName& name : keys.names) names_[name];
  for (StoredJob& job : found->jobs) {
    const auto name = names_.find({job.definition.name_space, job.definition.name});
    if (name != names_.end()) name->second.push_back(job.job_id);
    const JobId id = job.job_id;
    jobs_.insert_or_assign(id, std::move(job));
  }
  for (auto& [name, ids] : names_) std::sort(ids.begin(), ids.end());
}

void KnownJobs::Forget(const JobId& id, const JobDefinition& definition) {
  ids_.erase(id);
  jobs_.erase(id);
  names_.erase({definition.name_space, definition.name});
}

bool KnownJobs::IsFree(const JobId& id) const {
  const auto found = ids_.find(id);
  return found != ids_.end() && found->second == Id::kFree;
}

const StoredJob* KnownJobs::Find(const JobId& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::optional<std::vector<StoredJob>> KnownJobs::OfName(const FullName& name) const {
  const auto found = names_.find(name);
  if (found == names_.end()) return std::nullopt;
  std::vector<StoredJob> jobs;
  for (const JobId& id : found->second) {
    const StoredJob* job = Find(id);
    if (job == nullptr) return std::nullopt;
    jobs.push_back(*job);
  }
  return jobs;
}

}  // namespace carillon::scheduler
