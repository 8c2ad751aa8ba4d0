// The child processes of a warden that remove containers: those of records whose attempts have ended, and, now and then,
// those without a record.
//
// Place    docs/containers.md. The engine may take long, so the warden's loop never calls it itself.
// Threads  The warden's loop.
// Always   At most one child for each record, and one that sweeps. If the warden dies, they die.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace carillon::executor {

class ContainerCleaner {
 public:
  struct Options {
    std::string records;  // their directory
    std::string warden_id;
  };
  explicit ContainerCleaner(Options options) : options_(std::move(options)) {}

  // The command line of the engine; from now on containers without a record are removed.
  void UseEngine(std::string engine) { engine_ = std::move(engine); }
  // Removes the container of this record. TakeRemoved returns the record once nothing is left.
  void Remove(const std::string& record);
  std::vector<std::string> TakeRemoved() { return std::exchange(removed_, {}); }

  // Call it with each child of the warden that has exited. Returns the record of which nothing is left now, or "".
  std::string Reaped(pid_t child, int status);
  bool Owns(pid_t child) const { return child == sweeper_ || removers_.contains(child); }
  void Tick(SteadyTime now);
  SteadyTime NextTick() const;

 private:
  bool IsRemoving(const std::string& record) const;

  const Options options_;
  std::string engine_;  // empty: none
  pid_t sweeper_ = -1;
  SteadyTime next_sweep_{};
  std::unordered_map<pid_t, std::string> removers_;  // with their records
  std::vector<std::string> waiting_;                 // records of which no child could be forked yet
  SteadyTime next_try_{};
  std::vector<std::string> removed_;
};

}  // namespace carillon::executor
