// Checks of any text given as the condition of a workflow's edge; shared by the fuzzer and the
// unit test.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/condition/condition.h"

namespace carillon::test {

struct ConditionCheck {
  bool accepted = false;
  std::string complaint = {};  // empty = all checks passed
};

inline const std::vector<ConditionFacts>& SampleEnds() {
  static const Outputs kOutputs{{"n", "7"}, {"ok", "true"}, {"file", "/srv/a b"}, {"e", ""}};
  static const std::vector<ConditionFacts> kEnds{
      {.state = RunState::kCompleted, .exit_code = 0, .outputs = &kOutputs},
      {.state = RunState::kCompleted},
      {.state = RunState::kFailed, .exit_code = 3, .outputs = &kOutputs},
      {.state = RunState::kFailed, .exit_code = -1},
      {.state = RunState::kLost},
      {.state = RunState::kSkipped}};
  return kEnds;
}

inline Truth Opposite(Truth truth) {
  if (truth == Truth::kNotComputable) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

// A refusal has a code and a sentence. An accepted text means the same in parentheses, the opposite
// after `not`, nothing new beside `and true` and `or false`; and where it is true, CanHold says so.
inline ConditionCheck CheckConditionText(std::string_view text) {
  const auto condition = Condition::Parse(text);
  if (!condition.ok()) {
    const bool told = condition.code() == ErrorCode::kInvalid && !condition.error().message.empty();
    return {.accepted = false, .complaint = told ? "" : "refused without a reason"};
  }
  ConditionCheck check{.accepted = true};
  const std::string inner = "(" + std::string(text) + ")";
  const auto same = Condition::Parse(inner);
  const auto opposite = Condition::Parse("not" + inner);
  const auto both = Condition::Parse(inner + "and true");
  const auto either = Condition::Parse("false or" + inner);
  for (const ConditionFacts& facts : SampleEnds()) {
    const Truth truth = condition->Evaluate(facts);
    // The longer texts may exceed a limit.
    if (same.ok() && same->Evaluate(facts) != truth) check.complaint = "differs in parentheses";
    if (opposite.ok() && opposite->Evaluate(facts) != Opposite(truth)) {
      check.complaint = "`not` is not the opposite";
    }
    if (both.ok() && both->Evaluate(facts) != truth) check.complaint = "differs with `and true`";
    if (either.ok() && either->Evaluate(facts) != truth)
      check.complaint = "differs with `or false`";
    if (truth == Truth::kTrue && !condition->CanHold(facts.state)) {
      check.complaint = "is true, but cannot be";
    }
  }
  return check;
}

}  // namespace carillon::test
