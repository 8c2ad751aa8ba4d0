#include "common/domain/nodes/approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/domain/enum_names.h"

namespace carillon {
namespace {

constexpr std::array<NameOf<Decision>, 3> kDecisions{{{Decision::kApprove, "approve"},
                                                      {Decision::kRefuse, "refuse"},
                                                      {Decision::kTimeout, "timeout"}}};

// The output `decision`: the state that it has brought.
std::string_view OutputOf(Decision decision) {
  switch (decision) {
    case Decision::kApprove: return "approved";
    case Decision::kRefuse: return "refused";
    case Decision::kTimeout: break;
  }
  return "timeout";
}

std::string NameOfDecider(const Decider& who) {
  if (!who.name.empty()) return who.name;
  return who.user_id.empty() ? "an unknown user" : who.user_id;
}

std::string RefusalSentence(const Decider& who, std::string_view why) {
  return fmt::format("refused by {}{}{}", NameOfDecider(who), why.empty() ? "" : ": ", why);
}

}  // namespace

std::string_view Name(Decision decision) { return NameIn(kDecisions, decision); }

Status CheckMayDecide(const Approval& approval, const Decider& who) {
  if (approval.by.empty()) return {};
  if (!who.user_id.empty() && std::ranges::count(approval.by, who.user_id) > 0) return {};
  if (who.user_id.empty()) {
    return {ErrorCode::kDenied,
            "the node names the users who may decide, and this token belongs to none of them"};
  }
  return {ErrorCode::kDenied,
          fmt::format("the node names the users who may decide, and {} is none of them",
                      NameOfDecider(who))};
}

AttemptResult EndOfApproval(const Approval& approval, Decision decision, const Decider& who,
                            std::string_view reason, WallTime opened, WallTime now) {
  AttemptResult result{.started = opened, .ended = now};
  const bool timeout = decision == Decision::kTimeout;
  result.outputs = {{"decision", std::string(OutputOf(decision))},
                    {"by", timeout ? std::string() : NameOfDecider(who)},
                    {"reason", timeout ? std::string() : std::string(reason)}};
  if (decision == Decision::kRefuse) {
    result.state = RunState::kFailed;
    result.reason = reason::kRefused;
    result.error = RefusalSentence(who, reason);
  } else if (timeout && !approval.approves_on_timeout) {
    result.state = RunState::kFailed;
    result.reason = reason::kNotDecided;
    result.error = fmt::format("nobody decided within {} seconds", approval.timeout_s);
  }
  return result;
}

}  // namespace carillon
