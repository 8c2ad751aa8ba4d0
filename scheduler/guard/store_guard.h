// Trust of this member in its store, and the gate of the store's connections.
//
// Place    docs/adr/0009. GuardLoop feeds it; the store's adapter asks it (ports/store_gate.h).
// Threads  Thread-safe; never blocks. The callback is called outside the lock, from any thread.
// Always   Held is left by Release alone, which forgets nothing by itself: GuardLoop calls it.
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

  // StoreGate. Before anything is trusted it is open: nobody owns a segment yet.
  Status Check() const override;
  uint64_t Stamp() const override;
  Status Admit(const Result<StoreIdentity>& seen) override;

  // What was seen and is not to be used: as Admit, also while held. True: it is sound.
  bool Look(const Result<StoreIdentity>& seen);
  // Nothing is held any more; `trust` is what is trusted from now on.
  void Release(const StoreTrust& trust);
  // Another record of the same trust: a higher mark, or a later acceptance, after which every
  // connection is looked at anew.
  void Trust(const StoreTrust& trust);

  StoreStanding standing() const;
  bool trusted() const;

  // Called when the store begins to be held. An empty one takes it back; when that returns, it is
  // not called any more.
  void OnHold(std::function<void()> held);

 private:
  bool JudgeLocked(const Result<StoreIdentity>& seen, bool* began) REQUIRES(mu_);
  void HoldLocked(StoreDoubt doubt, std::string reason) REQUIRES(mu_);
  void TellHeld();

  const Clock& clock_;
  Mutex telling_mu_;  // never taken while mu_ is held
  std::function<void()> held_ GUARDED_BY(telling_mu_);
  mutable Mutex mu_;
  StoreStanding standing_ GUARDED_BY(mu_);
  uint64_t stamp_ GUARDED_BY(mu_) = 1;
};

}  // namespace carillon::scheduler
