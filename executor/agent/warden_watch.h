// Notices a warden that does not respond: a hanging one keeps its attempts and does nothing, so the
// members must be told.
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
  // A warden that died has been restarted by then; one silent for longer is reported as trouble.
  static constexpr Duration kWardenPatience = 2s;

  // `can_start` is the warden's answer (Warden::CanStart). Only kUnavailable means that it does not
  // respond; a full disk is no trouble of the warden.
  void Observe(const Status& can_start, SteadyTime now);
  // Why no process can be started; empty if one can, or if the warden has been away only briefly.
  const std::string& trouble() const { return trouble_; }
  // For how long it has not responded.
  Duration Away(SteadyTime now) const { return seen_ ? now - *seen_ : Duration::zero(); }

 private:
  std::optional<SteadyTime> seen_;
  std::string trouble_;
};

}  // namespace carillon::executor
