// Plays the administrator who pauses and resumes the whole cluster, as the API does: a member reads
// the settings, writes them if their version has not changed, and adopts the new settings.
//
// Errors   Some writes conflict, and some answers are lost. After a lost answer the member does not
//          know the outcome; every member finds the change in the store later.
// Always   Draws from a random stream of its own, so that worlds without pauses replay as they did
//          before pauses existed.
#pragma once

#include <functional>
#include <vector>

#include "common/base/live_settings.h"
#include "common/base/rng.h"
#include "common/base/time.h"
#include "common/ports/store/settings_store.h"

namespace carillon::sim {

class ClusterPauser {
 public:
  struct Ports {
    SettingsStore& store;
    std::function<WallTime()> now;
    // Returns the settings of a member; null if it cannot accept a call or cannot reach the store.
    std::function<LiveSettings*(size_t member)> settings;
    size_t members = 1;
    std::function<void(Duration, std::function<void()>)> after;
    std::function<void(const std::string&)> note;
    std::function<void(bool paused)> changed;  // in the store
  };
  ClusterPauser(Ports ports, uint64_t seed);

  // True if this world has pauses.
  bool acts() const { return acts_; }
  // Call it once every simulated second.
  void Act();
  // Pauses or resumes without a fault. Returns false if no member can accept the call now.
  bool SetTo(bool paused);
  // The state in the store, which every member must adopt.
  bool paused() const;
  Duration DrawLastPause() { return 60s + Duration(rng_.Below(90'000'000)); }

 private:
  ClusterSettings Changed(const ClusterSettings& stored, int64_t known, bool paused) const;
  // The length of the pause that the change of `stored` to `next` ends; zero if it ends none.
  Duration Ended(const ClusterSettings& stored, const ClusterSettings& next) const;

  const Ports ports_;
  Rng rng_;
  const bool acts_;
};

}  // namespace carillon::sim
