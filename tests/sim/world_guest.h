// A test that takes part in a simulated world: it may stand between the world and its store, and
// act as another user.
#pragma once

#include <functional>

#include "common/ports/store/stores.h"
#include "tests/twins/memory_stores.h"

namespace carillon::sim {

class WorldGuest {
 public:
  virtual ~WorldGuest() = default;
  // Called once, before anything else. Returns the store that the processes and users of the
  // world use.
  virtual Stores Around(memory::MemoryStores& stores) = 0;
  // Called once, when the world has come to rest or has no time left.
  virtual void AtEnd(WallTime now) = 0;
  // True: the world stops.
  virtual bool HasSeenEnough() const = 0;
  // Acts as a user; called every few hundred milliseconds while the world has faults. `nudge` tells
  // a scheduler of changed work, as the API does.
  virtual void Act(WallTime now, const std::function<void(const ChangedWork&)>& nudge) = 0;
};

}  // namespace carillon::sim
