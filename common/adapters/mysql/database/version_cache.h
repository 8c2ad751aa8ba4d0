// Versions of jobs as steps of workflows need them, in memory: a version never changes.
//
// Threads  Thread-safe. Whoever uses an entry keeps it while others evict it.
// Always   Holds at most kVersionsMax versions of kVersionBytesMax bytes in all, without the least
//          recently used. Forget is called when another history of the store may have other
//          definitions under the same keys.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/mutex.h"
#include "common/domain/workflow/workflow_graph.h"
#include "common/ports/store/firing_store.h"

namespace carillon::mysql {

// A version of a job, with its graph if it is a workflow's.
struct LoadedVersion {
  JobVersionRecord record;
  std::optional<WorkflowGraph> graph;
};
using SharedVersion = std::shared_ptr<const LoadedVersion>;

class VersionCache {
 public:
  static constexpr size_t kVersionsMax = 2'000;
  static constexpr size_t kVersionBytesMax = size_t{16} << 20;  // of stored text

  // Null: it is not here.
  SharedVersion Get(const JobVersionKey& key) {
    MutexLock lock(mu_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return found->second->version;
  }
  // `bytes`: of the stored text.
  void Put(const JobVersionKey& key, SharedVersion version, size_t bytes) {
    MutexLock lock(mu_);
    const auto found = places_.find(key);
    if (found != places_.end()) Drop(found->second);
    by_use_.push_front({.key = key, .version = std::move(version), .bytes = bytes});
    places_[key] = by_use_.begin();
    bytes_ += bytes;
    while (places_.size() > kVersionsMax || bytes_ > kVersionBytesMax) {
      Drop(std::prev(by_use_.end()));
    }
  }
  void Forget() {
    MutexLock lock(mu_);
    by_use_.clear();
    places_.clear();
    bytes_ = 0;
  }

 private:
  struct Entry {
    JobVersionKey key;
    SharedVersion version;
    size_t bytes = 0;
  };
  using Place = std::list<Entry>::iterator;
  void Drop(Place place) REQUIRES(mu_) {
    bytes_ -= place->bytes;
    places_.erase(place->key);
    by_use_.erase(place);
  }

  Mutex mu_;
  std::list<Entry> by_use_ GUARDED_BY(mu_);  // most recent first
  std::map<JobVersionKey, Place> places_ GUARDED_BY(mu_);
  size_t bytes_ GUARDED_BY(mu_) = 0;
};

}  // namespace carillon::mysql
