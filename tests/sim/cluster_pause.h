// The administrator who pauses and resumes the whole cluster, as the API does: by a member that
// reads the settings, writes them with their version compared, and adopts what it wrote.
//
// Errors   Some writes come too late, some answers are lost: then the member that took the call
//          does not know either, and the cluster finds the change in the store.
// Always   Draws from a stream of its own: a world without pauses goes on as it did before there
//          were any.
#pragma once

#include <functional>
#include <vector>

#include "common/adapters/memory/memory_store.h"
#include "common/base/live_settings.h"
#include "common/base/rng.h"

namespace carillon::sim {

class ClusterPauser {
 public:
  struct Ports {
    memory::MemoryStore& store;
    std::function<WallTime()> now;
    // The settings of a member that can take a call and reach the store; null: it cannot.
    std::function<LiveSettings*(size_t member)> settings;
    size_t members = 1;
    std::function<void(Duration, std::function<void()>)> after;
    std::function<void(const std::string&)> note;
  };
  ClusterPauser(Ports ports, uint64_t seed);

  // This world has pauses at all.
  bool acts() const { return acts_; }
  // Once a simulated second.
  void Act();
  // Without a fault; false when no member takes the call now.
  bool SetTo(bool paused);
  // By the store: what has to be in force everywhere.
  bool paused() const;
  Duration DrawLastPause() { return 60s + Duration(rng_.Below(90'000'000)); }

 private:
  ClusterSettings Changed(const ClusterSettings& stored, int64_t known, bool paused) const;

  const Ports ports_;
  Rng rng_;
  const bool acts_;
};

}  // namespace carillon::sim
