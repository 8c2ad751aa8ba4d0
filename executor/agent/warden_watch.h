// Detects a warden that does not respond. A hanging warden keeps its attempts but starts nothing,
// so the members must be notified.
//
// Threads  Not thread-safe; the core loop owns it.
// Time     Never reads a clock.
#pragma once

#include <optional>
#include <string>

#include "common/base/result.h"
#include "common/base/time.h"

namespace carillon::executor {

class WardenWatch {
 public:
  // A warden that died is restarted within this time. A warden that is silent for longer is
  // reported as trouble.
  static constexpr Duration kWardenPatience = 2s;

  // `can_start` is the warden's answer (Warden::CanStart). Only kUnavailable means that the warden
  // does not respond; a full disk is no trouble of the warden.
  void Observe(const Status& can_start, SteadyTime now);
  // The reason why the warden starts nothing. Empty if it responds, or was silent only briefly.
  const std::string& trouble() const { return trouble_; }
  // The time since the warden last responded.
  Duration Away(SteadyTime now) const { return seen_ ? now - *seen_ : Duration::zero(); }

 private:
  std::optional<SteadyTime> seen_;
  std::string trouble_;
};

}  // namespace carillon::executor
