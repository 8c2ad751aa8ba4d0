// Checks periodically that the store that answers is the trusted one. Also advances the store's
// mark, maintains the record of trust, and carries out an operator's acceptance of another store.
//
// Place    docs/adr/0009-store-identity-guard.md. The gate checks each new connection. This loop
//          also finds changes behind open connections, such as a restore in place.
// Threads  One loop calls Step; Accept is thread-safe and waits for a Step in progress.
// Time     Checks every kLookEvery; the leader advances the mark every kMarkEvery.
// Errors   While the store or the coordinator is unavailable, a trusted store stays trusted.
// Always   A mark is committed to the store before it is written to the record. Before the store is
//          trusted again, all data in memory from another history is dropped.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/loops/loop.h"
#include "common/base/metrics/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/store/identity_store.h"
#include "scheduler/guard/store_guard.h"

namespace carillon::scheduler {

class GuardLoop final : public Stepper {
 public:
  static constexpr Duration kLookEvery = 1s;
  static constexpr Duration kMarkEvery = 5s;
  static constexpr Duration kFirstLookEvery = 50ms;  // until the record is known

  struct Ports {
    const Clock& clock;
    IdentityStore& identity;
    Coordinator& coordinator;
    StoreGuard& guard;
    Metrics& metrics;
    std::function<void()> suspend;  // suspends owned segments; repeated while the store is held
    std::function<void()> forget;   // suspends, and drops all data in memory from the store
    std::function<void()> trusted;  // called after the store has become trusted
  };
  explicit GuardLoop(Ports ports) : ports_(std::move(ports)) {}

  SteadyTime Step(SteadyTime now) override;

  // Trusts the store that was shown to an operator and that the operator accepted. All members then
  // trust this store. kConflict: another store answers, or this store is already trusted. kTimeout:
  // the outcome is unknown; the guard's standing shows it later.
  Status Accept(const StoreIdentity& shown);

 private:
  using Record = Result<std::optional<StoreTrust>>;

  Record ReadRecord() REQUIRES(mu_);
  void Follow(const StoreTrust& record) REQUIRES(mu_);
  void Look(Record record, SteadyTime now) REQUIRES(mu_);
  bool BeginTrust(const StoreIdentity& seen, Record* record) REQUIRES(mu_);
  void AdvanceMark(const StoreIdentity& seen, const Record& record) REQUIRES(mu_);
  Result<StoreIdentity> FindShown(const StoreIdentity& shown) REQUIRES(mu_);
  void Show();

  const Ports ports_;
  Mutex mu_;
  SteadyTime next_look_ GUARDED_BY(mu_) = {};
  SteadyTime next_mark_ GUARDED_BY(mu_) = {};
  uint32_t segment_count_ GUARDED_BY(mu_) = 0;  // of the store with which this process was started
  std::string logged_ GUARDED_BY(mu_);          // the last logged error of the record
};

}  // namespace carillon::scheduler
