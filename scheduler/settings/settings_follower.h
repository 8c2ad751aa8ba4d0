// Keeps this member's live settings, the coordinator's copy of them and the store together.
//
// Whoever knows a newer version than the copy writes it there: the member that took the change, at
// once. Should that one die in between, the leader finds the change in the store. Whether a pause
// of the cluster is in force here is told to the other members.
//
// Place    docs/cluster.md; the rooms that the settings concern are told by Member::Tune.
// Threads  One loop calls Step.
// Errors   Tried again; without coordinator or store the member goes on with what it has.
#pragma once

#include <functional>

#include "common/base/live_settings.h"
#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/admin_store.h"
#include "common/ports/coordinator.h"

namespace carillon::scheduler {

class SettingsFollower final : public Stepper {
 public:
  static constexpr Duration kLookEvery =
      500ms;  // at the coordinator's view, in case nobody woke us
  static constexpr Duration kAskStoreEvery = 5s;

  struct Ports {
    Coordinator& coordinator;
    AdminStore& store;
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
  SteadyTime write_again_{};  // the coordinator refused: not before this

  struct Told {
    uint64_t joins = 0;  // what was told goes with the membership
    bool paused = false;

    bool operator==(const Told&) const = default;
  };
  Told told_;
};

}  // namespace carillon::scheduler
