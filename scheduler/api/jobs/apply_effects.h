// The jobs of the store that a list of documents changes, and those that it prunes.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/selector.h"
#include "scheduler/api/edits/job_edit.h"

namespace carillon::scheduler {

inline constexpr size_t kPruneScanMax = 100'000;  // jobs examined by one request

struct ApplyOptions {
  bool dry_run = false;
  bool only_new = false;  // jobs that exist stay as they are; not together with `prune`
  std::optional<Selector> prune = {};  // nullopt: nothing is deleted
  // The namespace of documents that name none, and the only one in which to prune. nullopt: such
  // documents belong to `default`, and all namespaces are pruned.
  std::optional<std::string> name_space = {};
};

// The documents of a list by what they say of their jobs.
class DocumentIndex {
 public:
  void AddId(const std::string& id, size_t index) { by_id_.emplace(id, index); }
  // Of a document without a job_id.
  void AddName(const std::pair<std::string, std::string>& name, size_t index) {
    by_name_.emplace(name, index);
  }
  // The document that describes the job.
  std::optional<size_t> Find(const StoredJob& job) const;

 private:
  std::map<std::string, size_t> by_id_;
  std::map<std::pair<std::string, std::string>, size_t> by_name_;  // namespace, name
};

// The first id that is tried for a document without a job_id. It is derived from the name, so that
// two clients that apply the same list at the same time do not create two jobs.
JobId FirstIdOf(const std::string& name_space, const std::string& name);

// The version that a document requires, like an If-Match; nullopt: none.
Outcome<std::optional<int64_t>> VersionOf(const nlohmann::json& document);

// True if a job is pruned unless it has a document.
bool IsToPrune(const Call& call, const ApplyOptions& options, const StoredJob& job);

struct UnlistedJobs {
  std::vector<StoredJob> jobs = {};  // outlines
  bool complete = false;             // these are all
};
// The jobs to be deleted. `documented`: ids of jobs with a document.
Result<UnlistedJobs> FindUnlisted(const Call& call, const ApplyOptions& options,
                                  const std::set<std::string>& documented);

}  // namespace carillon::scheduler
