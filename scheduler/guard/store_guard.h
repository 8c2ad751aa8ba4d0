// This member's trust in its store, and the gate for the store's connections.
//
// Place    docs/adr/0009-store-identity-guard.md. GuardLoop updates it; the store's adapter calls
//          it (ports/store_gate.h).
// Threads  Thread-safe; never blocks. The callback is called without `mu_`, from any thread.
// Always   Only Release ends the state Held. Release does not drop data in memory that was
//          read from the store. If another history was accepted, GuardLoop drops this data
//          before the call.
#pragma once

#include <functional>
#include <memory>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/ports/store_gate.h"

namespace carillon::scheduler {

inline constexpr const char* kGuardRoom = "guard";  // in the log

class StoreGuard final : public StoreGate {
 public:
  explicit StoreGuard(const Clock& clock) : clock_(clock) {}

  // Implements StoreGate. Until a store is trusted for the first time, the gate is open. No segment
  // is owned before that, so no run can be started.
  Status Check() const override;
  uint64_t Stamp() const override;
  uint64_t Mark() const override;
  Status Admit(const Result<StoreIdentity>& seen, uint64_t mark) override;

  // Judges a store like Admit, but admits no connection. Also works while the store is held.
  // Returns true if the store is the trusted one, or if no store is trusted yet and this one
  // can be read.
  bool Look(const Result<StoreIdentity>& seen, uint64_t mark);
  // Ends the state Held. From now on the store that `trust` describes is the trusted one.
  void Release(const StoreTrust& trust);
  // Adopts a newer record of trust, with a higher mark or a later acceptance. After a later
  // acceptance every connection is checked again.
  void Trust(const StoreTrust& trust);

  StoreStanding standing() const;
  bool trusted() const;

  // Sets the function to call when the store becomes held. An empty function removes it. After the
  // return, the previous function is no longer called.
  void OnHold(std::function<void()> held);

 private:
  bool JudgeLocked(const Result<StoreIdentity>& seen, uint64_t mark, bool* began) REQUIRES(mu_);
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
