// Keeps looking whether the store that answers is the trusted one, moves its mark, keeps the record
// of trust, and carries out an operator's word.
//
// Place    docs/adr/0009. Beside the gate, which looks at connections as they are opened, it finds
//          what changes under connections that live: a restore in place.
// Threads  One loop calls Step; Accept is thread-safe and waits for a Step in progress.
// Time     Looks every kLookEvery; the leader moves the mark every kMarkEvery.
// Errors   A store or coordinator that is away teaches nothing: what was trusted stays trusted.
// Always   The record's mark was committed before it is written. What was remembered of another
//          history is forgotten before the store is trusted again.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/base/loop.h"
#include "common/base/metrics.h"
#include "common/ports/coordinator.h"
#include "common/ports/identity_store.h"
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
  };
  struct Options {
    std::function<void()> suspend;  // what is owned; again and again while the store is held
    std::function<void()> forget;   // whatever is remembered of the store's rows, and suspend
    std::function<void()> trusted;  // after it became so
  };
  GuardLoop(const Ports& ports, Options options) : ports_(ports), options_(std::move(options)) {}

  SteadyTime Step(SteadyTime now) override;

  // An operator's word: the store that was shown is the one to go on with. Everybody follows.
  // kConflict: another one answers, or it is trusted anyway. kTimeout: look again.
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
  const Options options_;
  Mutex mu_;
  SteadyTime next_look_ GUARDED_BY(mu_) = {};
  SteadyTime next_mark_ GUARDED_BY(mu_) = {};
  uint32_t segment_count_ GUARDED_BY(mu_) = 0;  // of the store this process was started on
  std::string told_ GUARDED_BY(mu_);            // what was last logged of the record
};

}  // namespace carillon::scheduler
