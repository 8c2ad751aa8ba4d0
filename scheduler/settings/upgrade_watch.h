// Follows the level of the schema, and finishes an upgrade (docs/upgrading.md).
//
// Place    Runs after the settings on the loop `leader`. The API asks FeatureOn and requests the
//          finish.
// Threads  One loop calls Step. All other methods are thread-safe and do not block.
// Errors   Without the store, the last known level stays in force; before the first answer, only
//          the features of the first release are on. A finish that fails changes nothing, and the
//          state tells why.
// Always   The schema is finished only if every member was seen to know its newest migration twice,
//          kSecondLook apart, while no member could start.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "common/base/loops/loop.h"
#include "common/base/mutex.h"
#include "common/base/time.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/schema_store.h"

namespace carillon::scheduler {

struct UpgradeState {
  SchemaLevels levels = {};
  bool finishing = false;
  std::string problem = {};  // why the last finish failed; empty: it did not
};

class UpgradeWatch final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 5s;
  static constexpr Duration kStepEvery = 500ms;  // a request waits for so long
  // Longer than a start and a session at the coordinator, so that a member that was not listed at
  // the first look is listed now, or has lost its segments.
  static constexpr Duration kSecondLook = 30s;

  struct Ports {
    Coordinator& coordinator;
    SchemaStore& store;
  };
  explicit UpgradeWatch(const Ports& ports) : ports_(ports) {}

  SteadyTime Step(SteadyTime now) override;

  // True if values that need this migration may be written.
  bool FeatureOn(int migration) const {
    return migration <= kFirstSchema || migration <= finished_.load(std::memory_order_acquire);
  }
  UpgradeState State() const;
  // kConflict: this program does not know the store's level, so it must end. It was cut off from
  // the coordinator, and so not listed, while the upgrade was finished.
  Status CheckProgram() const;
  // Starts to finish the upgrade. No effect while that is in progress.
  void RequestFinish();

 private:
  Status Look();
  Status Begin(SteadyTime now);
  Status Complete();
  Status CheckMembers() const;
  void End(const Status& outcome);

  const Ports ports_;
  std::atomic<int> finished_ = 0;
  // Used by Step alone.
  SteadyTime next_look_{};
  SteadyTime second_look_{};
  std::unique_ptr<SchemaHold> hold_;  // set between the two looks

  mutable Mutex mu_;
  UpgradeState state_ GUARDED_BY(mu_);
};

}  // namespace carillon::scheduler
