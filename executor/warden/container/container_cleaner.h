// Removes containers in child processes of the warden: those of attempts that have ended, and, now
// and then, those with the warden's label that no attempt has.
//
// Place    docs/containers.md. The engine and the disk may take long, so the warden's loop never
//          asks them itself.
// Threads  The warden's loop.
// Always   At most three children: for removals that were not tried yet, for those that were,
//          because an engine that hangs at one container must not delay the others, and for the
//          sweep. If the warden dies, they die.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/file_descriptor.h"
#include "common/base/time.h"
#include "executor/warden/container/container_removal.h"

namespace carillon::executor {

// The warden's table of attempts.
class KnownContainers {
 public:
  virtual ~KnownContainers() = default;
  // True from before such a container is created until nothing is left of it.
  virtual bool HasContainer(std::string_view name) const = 0;
};

class ContainerCleaner {
 public:
  struct Options {
    std::string records;  // their directory
    std::string warden_id;
  };
  ContainerCleaner(const KnownContainers& known, Options options)
      : known_(known), options_(std::move(options)), records_read_(options_.records.empty()) {}

  // The command line of the engine; from now on containers of no attempt are removed.
  void UseEngine(std::string engine) { engine_ = std::move(engine); }
  // Removes this container, by the engine of UseEngine if it names none. A second call for the same
  // does nothing.
  void Remove(ContainerToRemove container);
  struct Removed {
    std::string name;
    std::optional<ContainerEnd> end;
  };
  // The containers of which nothing is left, once each.
  std::vector<Removed> TakeRemoved() { return std::exchange(removed_, {}); }

  // Call it with each child of the warden that has exited.
  void Reaped(pid_t child, SteadyTime now);
  bool Owns(pid_t child) const;
  void Tick(SteadyTime now);
  SteadyTime NextTick() const;

 private:
  struct Waiting {
    ContainerToRemove container;
    std::optional<ContainerEnd> end = {};  // the first that was found: a kill makes another one
    int tries = 0;
    SteadyTime due{};
    bool asked = false;  // a child is about it
  };
  struct Child {
    pid_t pid = -1;
    FileDescriptor answer;
    std::vector<std::string> names;  // in the order of the answer
  };
  enum Which : size_t { kFirst, kAgain };
  enum class Sweep { kListing, kRemoving, kReadingRecords };

  void StartRemover(Which which, SteadyTime now);
  void TakeAnswer(Child& child, SteadyTime now);
  void StepSweep(SteadyTime now);
  std::string Swept() const;
  void TakeSwept(SteadyTime now);
  void RemoveOf(const std::vector<ListedContainer>& records);

  const KnownContainers& known_;
  const Options options_;
  std::string engine_;  // empty: none
  std::unordered_map<std::string, Waiting> waiting_;
  Child removers_[2];
  Child sweeper_;
  Sweep sweep_ = Sweep::kListing;  // what sweeper_ does
  bool records_read_;
  std::vector<std::string> swept_ids_;  // not removed yet
  int sweeps_failed_ = 0;
  SteadyTime next_sweep_{};
  SteadyTime next_fork_{};
  std::vector<Removed> removed_;
};

}  // namespace carillon::executor
