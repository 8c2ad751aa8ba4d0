// Approvals: nodes that wait for the decision of a person. Pure.
//
// The run of an open approval is PENDING with the due time kUndecided (run.h). It ends COMPLETED,
// or FAILED with one of the reasons below. Its outputs say who decided: `decision` (approved,
// refused, timeout), `by` and `reason`.
#pragma once

#include <string>
#include <string_view>

#include "common/domain/run/run.h"
#include "common/domain/workflow/workflow_spec.h"

namespace carillon {

namespace reason {
inline constexpr std::string_view kRefused = "refused";         // FAILED: a person refused
inline constexpr std::string_view kNotDecided = "not_decided";  // FAILED: nobody decided in time
}  // namespace reason

enum class Decision { kApprove, kRefuse, kTimeout };
std::string_view Name(Decision decision);  // "approve", "refuse", "timeout"

// The person that decides or skips. user_id "": a token that belongs to nobody.
struct Decider {
  std::string user_id = {};
  std::string name = {};

  bool operator==(const Decider&) const = default;
};

// kDenied: the approval names people, and this is none of them.
Status CheckMayDecide(const Approval& approval, const Decider& who);

// The end of the node's run. `opened`: when it began to wait.
AttemptResult EndOfApproval(const Approval& approval, Decision decision, const Decider& who,
                            std::string_view reason, WallTime opened, WallTime now);

}  // namespace carillon
