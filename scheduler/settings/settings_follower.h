// Synchronises this member's live settings, the coordinator's copy of them and the store.
//
// A member that has a newer version than the coordinator's copy writes its version there. Normally
// that is the member whose API accepted the change, and it does so at once. If this member fails
// before, the leader finds the change in the store. Each member also reports to the other members
// whether it applies a pause of the cluster.
//
// Place    docs/cluster.md; Member::Tune passes the settings to the rooms that use them.
// Threads  One loop calls Step.
// Errors   Retried. Without coordinator or store, the member continues with the settings it has.
#pragma once

#include <functional>

#include "common/base/live_settings.h"
#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/settings_store.h"

namespace carillon::scheduler {

class SettingsFollower final : public Stepper {
 public:
  // The time between reads of the coordinator's copy, if nothing wakes the loop earlier.
  static constexpr Duration kLookEvery = 500ms;
  static constexpr Duration kAskStoreEvery = 5s;

  struct Ports {
    Coordinator& coordinator;
    SettingsStore& store;
    LiveSettings& settings;
    Metrics& metrics;
  };
  SettingsFollower(const Ports& ports, std::function<bool()> leads)
      : ports_(ports), leads_(std::move(leads)) {}

  SteadyTime Step(SteadyTime now) override;

 private:
  void AskStore(SteadyTime now);
  void Compare(SteadyTime now);
  void Tell();

  const Ports ports_;
  const std::function<bool()> leads_;
  SteadyTime next_ask_{};
  SteadyTime write_again_{};  // no further write before this time, because a write was refused

  struct Announced {
    uint64_t joins = 0;  // value of Coordinator::Joins(); the report is repeated after each join
    bool paused = false;

    bool operator==(const Announced&) const = default;
  };
  Announced announced_;
};

}  // namespace carillon::scheduler
