#include "scheduler/guard/store_guard.h"

#include <utility>

#include "common/base/log.h"

namespace carillon::scheduler {
namespace {

constexpr const char* kRoom = "guard";

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

Status StoreGuard::Admit(const Result<StoreIdentity>& seen) {
  bool sound = false;
  bool began = false;
  {
    MutexLock lock(mu_);
    sound = JudgeLocked(seen, &began);
  }
  if (began) ReportHeld();
  CARILLON_TRY(Check());
  if (!sound) return seen.error();
  return {};
}

bool StoreGuard::Look(const Result<StoreIdentity>& seen) {
  bool sound = false;
  bool began = false;
  {
    MutexLock lock(mu_);
    sound = JudgeLocked(seen, &began);
  }
  if (began) ReportHeld();
  return sound;
}

// Sets `began` if the store has just become held.
bool StoreGuard::JudgeLocked(const Result<StoreIdentity>& seen, bool* began) {
  if (!seen.ok() && !SaysNoStore(seen)) return false;  // the store is unavailable
  const bool held = standing_.state == StoreState::kHeld;
  std::optional<StoreDoubt> doubt;
  if (!seen.ok()) {
    standing_.seen.reset();
    doubt = StoreDoubt::kNoStore;
  } else {
    standing_.seen = *seen;
    if (standing_.trusted) doubt = Judge(*standing_.trusted, *seen);
  }
  if (!standing_.trusted) return seen.ok();
  if (!doubt) {
    // While the store is held, the trust must not change, because the store that answers is
    // not in use.
    if (!held) standing_.trusted = After(*standing_.trusted, *seen);
    return true;
  }
  const StoreIdentity shown = seen.ok() ? *seen : StoreIdentity{};
  HoldLocked(*doubt, Describe(*doubt, *standing_.trusted, shown));
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
  log::Error(kRoom,
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
    log::Warn(kRoom, "THE STORE IS TRUSTED AGAIN: store {} mark {}: work continues", trust.store_id,
              trust.mark);
  } else {
    log::Info(kRoom, "store trusted store={} mark={}", trust.store_id, trust.mark);
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
