#include "scheduler/guard/store_guard.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

// True if a server answered but has no store that this program can read.
bool SaysNoStore(const Result<StoreIdentity>& seen) {
  return !seen.ok() && (seen.code() == ErrorCode::kBrokenStore ||
                        seen.code() == ErrorCode::kCorrupt || seen.code() == ErrorCode::kNotFound);
}

}  // namespace

Status StoreGuard::Check() const {
  MutexLock lock(mu_);
  if (standing_.state != StoreState::kHeld) return {};
  return {ErrorCode::kUnavailable, "the store is held: " + standing_.reason};
}

uint64_t StoreGuard::Stamp() const {
  MutexLock lock(mu_);
  return stamp_;
}

uint64_t StoreGuard::Mark() const {
  MutexLock lock(mu_);
  return standing_.trusted ? standing_.trusted->mark : 0;
}

Status StoreGuard::Admit(const Result<StoreIdentity>& seen, uint64_t mark) {
  bool sound = false;
  bool began = false;
  {
    MutexLock lock(mu_);
    sound = JudgeLocked(seen, mark, &began);
  }
  if (began) ReportHeld();
  CARILLON_TRY(Check());
  if (!sound) return seen.error();
  return {};
}

bool StoreGuard::Look(const Result<StoreIdentity>& seen, uint64_t mark) {
  bool sound = false;
  bool began = false;
  {
    MutexLock lock(mu_);
    sound = JudgeLocked(seen, mark, &began);
  }
  if (began) ReportHeld();
  return sound;
}

// Sets `began` if the store has just become held. The mark that was known when the identity was
// read counts, not the present one: an older answer that arrives late is no sign of lost commits.
bool StoreGuard::JudgeLocked(const Result<StoreIdentity>& seen, uint64_t mark, bool* began) {
  if (!seen.ok() && !SaysNoStore(seen)) return false;  // the store is unavailable
  const bool held = standing_.state == StoreState::kHeld;
  std::optional<StoreDoubt> doubt;
  StoreTrust then = standing_.trusted.value_or(StoreTrust{});
  then.mark = std::min(then.mark, mark);
  if (!seen.ok()) {
    standing_.seen.reset();
    doubt = StoreDoubt::kNoStore;
  } else {
    standing_.seen = *seen;
    if (standing_.trusted) doubt = Judge(then, *seen);
  }
  if (!standing_.trusted) return seen.ok();
  if (!doubt) {
    // While the store is held, the trust must not change, because the store that answers is
    // not in use.
    if (!held) standing_.trusted = After(*standing_.trusted, *seen);
    return true;
  }
  const StoreIdentity shown = seen.ok() ? *seen : StoreIdentity{};
  HoldLocked(*doubt, Describe(*doubt, then, shown));
  *began = !held;
  return false;
}

void StoreGuard::HoldLocked(StoreDoubt doubt, std::string reason) {
  const bool known = standing_.state == StoreState::kHeld && standing_.doubt == doubt;
  if (standing_.state != StoreState::kHeld) {
    standing_.since = clock_.Wall();
    ++stamp_;
  }
  standing_.state = StoreState::kHeld;
  standing_.doubt = doubt;
  standing_.reason = std::move(reason);
  if (known) return;
  log::Error(kGuardRoom,
             "THE STORE IS HELD: {}. Nothing is planned, fired or claimed until the trusted store "
             "answers again, or an operator accepts this one: carillon system accept-store",
             standing_.reason);
}

void StoreGuard::ReportHeld() {
  MutexLock lock(telling_mu_);
  if (held_) held_();
}

void StoreGuard::OnHold(std::function<void()> held) {
  MutexLock lock(telling_mu_);
  held_ = std::move(held);
}

void StoreGuard::Release(const StoreTrust& trust) {
  MutexLock lock(mu_);
  const bool was_held = standing_.state == StoreState::kHeld;
  if (standing_.state != StoreState::kTrusted) {
    standing_.state = StoreState::kTrusted;
    standing_.since = clock_.Wall();
  }
  standing_.trusted = trust;
  standing_.doubt.reset();
  standing_.reason.clear();
  ++stamp_;
  if (was_held) {
    log::Warn(kGuardRoom, "THE STORE IS TRUSTED AGAIN: store {} mark {}: work continues",
              trust.store_id, trust.mark);
  } else {
    log::Info(kGuardRoom, "store trusted store={} mark={}", trust.store_id, trust.mark);
  }
}

void StoreGuard::Trust(const StoreTrust& trust) {
  MutexLock lock(mu_);
  if (standing_.trusted && standing_.trusted->accepted != trust.accepted) ++stamp_;
  standing_.trusted = trust;
}

bool StoreGuard::trusted() const {
  MutexLock lock(mu_);
  return standing_.state == StoreState::kTrusted;
}

StoreStanding StoreGuard::standing() const {
  MutexLock lock(mu_);
  return standing_;
}

}  // namespace carillon::scheduler
