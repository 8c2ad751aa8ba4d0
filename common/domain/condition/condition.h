// The language of `if` on an edge of a workflow: asks how the upstream node ended. Pure.
//
//   exit_code == 3
//   state == "TIMED_OUT" or state == "LOST"
//   outputs.rows != null and outputs.rows > 1000 and not outputs.dry_run
//
//   Values       numbers, 'texts' or "texts", true, false, null; exit_code; state (a final state);
//                outputs.NAME (a text that the run has put out)
//   Comparisons  == != < <= > >=; an output is read as a number or as true or false if it is
//                compared with one; texts have no order
//   Logic        not, and, or (in this order of precedence), parentheses
//   null         An output that does not exist, and the exit code of a run that has none, equal
//                null. Every other comparison with them is not computable.
//
// The answer is true, false or not computable. An operand that is not computable does not matter if
// the other one decides: false and X is false, true or X is true.
//
// Errors   Parse: kInvalid; the sentence names the character and the mistake.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "common/domain/condition/condition_program.h"
#include "common/domain/run/outputs.h"
#include "common/domain/run/run.h"

namespace carillon {

enum class Truth { kFalse, kTrue, kNotComputable };

// The end of the upstream node.
struct ConditionFacts {
  RunState state = RunState::kCompleted;
  std::optional<int> exit_code = {};
  const Outputs* outputs = nullptr;  // null: none
};

// The values of an event, by name ("data.order.amount").
class NamedValues {
 public:
  virtual ~NamedValues() = default;
  virtual std::optional<ConditionValue> At(std::string_view name) const = 0;  // nullopt: none, null
};

class Condition {
 public:
  static Result<Condition> Parse(std::string_view text);
  // A condition on an event: its names are those of ConditionNames::kEvent. A text is a text, also
  // if it consists of digits.
  static Result<Condition> ParseForEvents(std::string_view text);

  Truth Evaluate(const ConditionFacts& facts) const;
  Truth Evaluate(const NamedValues& values) const;
  // False if the condition is not true for any run that ends in `state`, whatever its exit code and
  // its outputs are.
  bool CanHold(RunState state) const;
  // True if the condition contains exit_code, or an output.
  bool AsksForExitCode() const;
  bool AsksForOutputs() const;

 private:
  explicit Condition(ConditionProgram program) : program_(std::move(program)) {}

  ConditionProgram program_;
};

}  // namespace carillon
