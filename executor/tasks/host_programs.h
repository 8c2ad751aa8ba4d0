// The programs of this host that attempts need, as they were found last.
//
// Threads  ProgramBoard is thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/domain/host_check.h"
#include "executor/tasks/interpreters.h"

namespace carillon::executor {

struct HostPrograms {
  Interpreters interpreters = {};
  bool engine_answers = false;
  std::string container_engine = {};   // path of the engine that answered last; empty: none did
  std::vector<HostCheck> checks = {};  // the start-up report, with what was found since

  bool operator==(const HostPrograms&) const = default;
};

// The features of a host with these programs.
inline Features FeaturesOf(const HostPrograms& programs) {
  Features features = FeaturesOf(programs.interpreters);
  if (programs.engine_answers) features.Add(Feature::kContainer);
  return features;
}

class ProgramBoard {
 public:
  explicit ProgramBoard(HostPrograms found)
      : found_(std::make_shared<const HostPrograms>(std::move(found))) {}

  // Another pointer than before: something has changed.
  std::shared_ptr<const HostPrograms> Current() const {
    MutexLock lock(mu_);
    return found_;
  }
  void Set(HostPrograms found) {
    auto next = std::make_shared<const HostPrograms>(std::move(found));
    MutexLock lock(mu_);
    found_ = std::move(next);
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const HostPrograms> found_ GUARDED_BY(mu_);
};

}  // namespace carillon::executor
