// The context of one write on behalf of a caller: who, when, why. Counts the runs that
// the write ended.
#pragma once

#include <string>

#include "scheduler/api/call/call.h"

namespace carillon::scheduler {

// The caller as approvals know them (common/domain/nodes/approval.h).
inline Decider DeciderOf(const Caller& caller) {
  return {.user_id = caller.user_id, .name = caller.Actor()};
}

class AuditedWrite {
 public:
  AuditedWrite(const Call& call, WallTime now, std::string reason = {},
               bool confirm_overlap = false, CancelMode cancel_mode = CancelMode::kGraceful)
      : metrics_(call.api.metrics),
        context_{.now = now,
                 .actor = call.caller.Actor(),
                 .reason = std::move(reason),
                 .confirm_overlap = confirm_overlap,
                 .cancel_mode = cancel_mode,
                 .decider = DeciderOf(call.caller),
                 .keep_zones = call.api.upgrade.FeatureOn(kFireDateMigration),
                 .ended = &ended_} {}
  AuditedWrite(const AuditedWrite&) = delete;
  AuditedWrite& operator=(const AuditedWrite&) = delete;

  const WriteContext& context() const { return context_; }
  // Of a cancel: gives up the attempt instead (WriteContext::give_up).
  void GiveUp() { context_.give_up = true; }

  // Returns `written`. If it is a success, counts the runs that the write ended.
  template <typename Written>
  Written Count(Written written) {
    if (!written.ok()) return written;
    for (const auto& [state, count] : ended_) {
      metrics_.counter("carillon_runs_total", Name(state)).Add(static_cast<uint64_t>(count));
    }
    ended_.clear();
    return written;
  }

 private:
  Metrics& metrics_;
  EndedRuns ended_;
  WriteContext context_;
};

}  // namespace carillon::scheduler
