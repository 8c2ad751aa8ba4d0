// Keeps this member's live settings, the coordinator's copy of them and the store in step.
//
// A member that has a newer version than the coordinator's copy writes it there. Normally that is
// the member whose API accepted the change, at once; if it fails in between, the leader finds the
// change in the store. This member also reports to the others whether a pause of the cluster is in
// force here.
//
// Place    docs/cluster.md; Member::Tune passes the settings to the rooms that they concern.
// Threads  One loop calls Step.
// Errors   Retried; without coordinator or store the member continues with the settings it has.
#pragma once

#include <functional>

#include "common/base/live_settings.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/settings_store.h"

namespace carillon::scheduler {

class SettingsFollower final : public Stepper {
 public:
  static constexpr Duration kLookEvery =
      500ms;  // between reads of the coordinator's copy if nothing wakes the loop
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
  SteadyTime write_again_{};  // the coordinator refused a write: no further one before this

  struct Told {
    uint64_t joins = 0;  // the report is repeated after each join
    bool paused = false;

    bool operator==(const Told&) const = default;
  };
  Told announced_;
};

}  // namespace carillon::scheduler
