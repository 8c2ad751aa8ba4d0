// This member's trust in its store, and the gate for the store's connections.
//
// Place    docs/adr/0009. GuardLoop feeds it; the store's adapter asks it (ports/store_gate.h).
// Threads  Thread-safe; never blocks. The callback is called outside the lock, from any thread.
// Always   Only Release ends the state Held. Release drops nothing that is remembered of the store;
//          where another history was accepted, GuardLoop drops it before it calls Release.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/store_gate.h"

namespace carillon::scheduler {

class StoreGuard final : public StoreGate {
 public:
  explicit StoreGuard(const Clock& clock) : clock_(clock) {}

  // Implements StoreGate. Until a store is trusted for the first time, the gate is open: no segment
  // is owned before that, so no run can be started.
  Status Check() const override;
  uint64_t Stamp() const override;
  Status Admit(const Result<StoreIdentity>& seen) override;

  // Judges a store that was seen, as Admit does, but admits no connection; works while held too.
  // Returns true if the store is sound.
  bool Look(const Result<StoreIdentity>& seen);
  // Ends the state Held; `trust` is trusted from now on.
  void Release(const StoreTrust& trust);
  // Adopts a newer record of trust: a higher mark, or a later acceptance, after which every
  // connection is checked again.
  void Trust(const StoreTrust& trust);

  StoreStanding standing() const;
  bool trusted() const;

  // `held` is called when the store becomes held. Passing an empty function removes it; once that
  // call has returned, the old one is no longer called.
  void OnHold(std::function<void()> held);

 private:
  bool JudgeLocked(const Result<StoreIdentity>& seen, bool* began) REQUIRES(mu_);
  void HoldLocked(StoreDoubt doubt, std::string reason) REQUIRES(mu_);
  void ReportHeld();

  const Clock& clock_;
  Mutex telling_mu_;  // never taken while mu_ is held
  std::function<void()> held_ GUARDED_BY(telling_mu_);
  mutable Mutex mu_;
  StoreStanding standing_ GUARDED_BY(mu_);
  uint64_t stamp_ GUARDED_BY(mu_) = 1;
};

}  // namespace carillon::scheduler
