#include "common/domain/condition/condition.h"

#include <algorithm>
#include <compare>
#include <deque>
#include <string>
#include <variant>
#include <vector>

namespace carillon {
namespace {

using Op = ConditionOp;

// The text of an output, which has the type of the value with which it is compared.
struct OutputText {
  std::string_view text;
};
struct NotComputable {};
// A value that is not known: any of its type, or none.
struct Anything {};
// A list or an object of an event.
struct Tree {};
using Value = std::variant<NotComputable, Anything, Tree, bool, ConditionNumber, std::string_view,
                           OutputText>;

struct World {
  ConditionFacts facts;
  bool exit_code_known = true;
  bool outputs_known = true;
  const NamedValues* named = nullptr;        // of a condition on an event
  std::deque<std::string>* texts = nullptr;  // those of `named`, for the time of the evaluation
};

template <typename T>
bool Is(const Value& value) {
  return std::holds_alternative<T>(value);
}

std::optional<ConditionNumber> AsNumber(const Value& value) {
  if (const auto* number = std::get_if<ConditionNumber>(&value)) return *number;
  const auto* output = std::get_if<OutputText>(&value);
  return output == nullptr ? std::nullopt : ParseConditionNumber(output->text);
}

std::optional<bool> AsTruth(const Value& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth;
  const auto* output = std::get_if<OutputText>(&value);
  if (output != nullptr && output->text == "true") return true;
  if (output != nullptr && output->text == "false") return false;
  return std::nullopt;
}

bool IsText(const Value& value) { return Is<std::string_view>(value) || Is<OutputText>(value); }

std::string_view AsText(const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
  const auto* output = std::get_if<OutputText>(&value);
  return output == nullptr ? std::string_view() : output->text;
}

std::partial_ordering Order(const ConditionNumber& left, const ConditionNumber& right) {
  if (left.is_whole && right.is_whole) return left.whole <=> right.whole;
  return left.real <=> right.real;
}

// ---- one step of a program ---------------------------------------------------------------------

Value ReadNamed(const std::string& name, const World& world) {
  if (world.named == nullptr) return NotComputable{};
  auto value = world.named->At(name);
  if (!value) return NotComputable{};
  if (const auto* truth = std::get_if<bool>(&*value)) return *truth;
  if (const auto* number = std::get_if<ConditionNumber>(&*value)) return *number;
  if (std::holds_alternative<ConditionTree>(*value)) return Tree{};
  world.texts->push_back(std::move(std::get<std::string>(*value)));
  return std::string_view(world.texts->back());
}

Value Read(const ConditionStep& step, const World& world) {
  switch (step.op) {
    case Op::kTrue: return true;
    case Op::kFalse: return false;
    case Op::kWhole:
    case Op::kReal: return step.number;
    case Op::kText: return std::string_view(step.text);
    case Op::kState: return Name(world.facts.state);
    case Op::kExitCode: {
      if (!world.exit_code_known) return Anything{};
      if (!world.facts.exit_code) return NotComputable{};
      const int code = *world.facts.exit_code;
      return ConditionNumber{.whole = code, .real = static_cast<double>(code)};
    }
    case Op::kOutput: {
      if (!world.outputs_known) return Anything{};
      if (world.facts.outputs == nullptr) return NotComputable{};
      const auto found = world.facts.outputs->find(step.text);
      if (found == world.facts.outputs->end()) return NotComputable{};
      return OutputText{found->second};
    }
    case Op::kNamed: return ReadNamed(step.text, world);
    default: return NotComputable{};
  }
}

Value CompareNumbers(Op op, const ConditionNumber& left, const ConditionNumber& right) {
  const auto order = Order(left, right);
  switch (op) {
    case Op::kEqual: return order == 0;
    case Op::kNotEqual: return order != 0;
    case Op::kLess: return order < 0;
    case Op::kLessEqual: return order <= 0;
    case Op::kGreater: return order > 0;
    case Op::kGreaterEqual: return order >= 0;
    default: return NotComputable{};
  }
}

// The parser has refused what cannot be compared, except for outputs and values of events, which
// are known only now.
Value Compare(Op op, const Value& left, const Value& right) {
  if (Is<NotComputable>(left) || Is<NotComputable>(right)) return NotComputable{};
  if (Is<Anything>(left) || Is<Anything>(right)) return Anything{};
  const bool equality = op == Op::kEqual || op == Op::kNotEqual;
  if (equality && (Is<bool>(left) || Is<bool>(right))) {
    const auto first = AsTruth(left);
    const auto second = AsTruth(right);
    if (!first || !second) return NotComputable{};
    return (*first == *second) == (op == Op::kEqual);
  }
  if (Is<Tree>(left) || Is<Tree>(right)) return NotComputable{};
  if (equality && IsText(left) && IsText(right)) {
    return (AsText(left) == AsText(right)) == (op == Op::kEqual);
  }
  const auto first = AsNumber(left);
  const auto second = AsNumber(right);
  if (!first || !second) return NotComputable{};
  return CompareNumbers(op, *first, *second);
}

Value IsNull(Op op, const Value& value) {
  if (Is<Anything>(value)) return value;
  return Is<NotComputable>(value) == (op == Op::kIsNull);
}

Value Negated(const Value& value) {
  if (Is<Anything>(value)) return value;
  const auto truth = AsTruth(value);
  return truth ? Value(!*truth) : Value(NotComputable{});
}

Value Combine(Op op, const Value& left, const Value& right) {
  const bool decides = op == Op::kOr;  // the operand that decides, whatever the other one is
  const auto first = AsTruth(left);
  const auto second = AsTruth(right);
  if (first == decides || second == decides) return decides;
  if (first && second) return !decides;
  // Beside a value that is not computable, an unknown one cannot make `and` true.
  const bool unknown = Is<Anything>(left) || Is<Anything>(right);
  const bool broken = (!first && !Is<Anything>(left)) || (!second && !Is<Anything>(right));
  if (unknown && (op == Op::kOr || !broken)) return Anything{};
  return NotComputable{};
}

// ---- programs ----------------------------------------------------------------------------------

Value Run(const ConditionProgram& program, const World& world) {
  std::vector<Value> stack;
  const auto pop = [&stack] {
    const Value top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const ConditionStep& step : program) {
    switch (step.op) {
      case Op::kIsNull:
      case Op::kIsNotNull: stack.push_back(IsNull(step.op, pop())); break;
      case Op::kNot: stack.push_back(Negated(pop())); break;
      case Op::kAnd:
      case Op::kOr: {
        const Value right = pop();
        stack.push_back(Combine(step.op, pop(), right));
        break;
      }
      case Op::kEqual:
      case Op::kNotEqual:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual: {
        const Value right = pop();
        stack.push_back(Compare(step.op, pop(), right));
        break;
      }
      default: stack.push_back(Read(step, world));
    }
  }
  return stack.empty() ? Value(NotComputable{}) : stack.back();
}

Truth TruthOf(const Value& value) {
  const auto truth = AsTruth(value);
  if (!truth) return Truth::kNotComputable;
  return *truth ? Truth::kTrue : Truth::kFalse;
}

bool Asks(const ConditionProgram& program, Op op) {
  return std::any_of(program.begin(), program.end(),
                     [op](const ConditionStep& step) { return step.op == op; });
}

}  // namespace

Result<Condition> Condition::Parse(std::string_view text) {
  CARILLON_ASSIGN_OR_RETURN(ConditionProgram program, CompileCondition(text));
  return Condition(std::move(program));
}

Result<Condition> Condition::ParseForEvents(std::string_view text) {
  CARILLON_ASSIGN_OR_RETURN(ConditionProgram program,
                            CompileCondition(text, ConditionNames::kEvent));
  return Condition(std::move(program));
}

Truth Condition::Evaluate(const ConditionFacts& facts) const {
  return TruthOf(Run(program_, {.facts = facts}));
}

Truth Condition::Evaluate(const NamedValues& values) const {
  std::deque<std::string> texts;  // its elements stay where they are
  return TruthOf(Run(program_, {.named = &values, .texts = &texts}));
}

bool Condition::CanHold(RunState state) const {
  const auto may_hold = [this](const World& world) {
    const Value value = Run(program_, world);
    return Is<Anything>(value) || AsTruth(value) == true;
  };
  World world{.facts = {.state = state}, .exit_code_known = false, .outputs_known = false};
  if (state != RunState::kCompleted && state != RunState::kSkipped) return may_hold(world);
  // A run that was skipped has put out nothing. One that succeeded has exit code 0, or none if it
  // had no process.
  world.exit_code_known = true;
  world.outputs_known = state == RunState::kSkipped;
  if (may_hold(world)) return true;
  world.facts.exit_code = 0;
  return state == RunState::kCompleted && may_hold(world);
}

bool Condition::AsksForExitCode() const { return Asks(program_, Op::kExitCode); }

bool Condition::AsksForOutputs() const { return Asks(program_, Op::kOutput); }

}  // namespace carillon
