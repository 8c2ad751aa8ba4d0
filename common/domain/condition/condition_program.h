// Compiles the text of a condition into a program for a stack. Pure; condition.h has the language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"

namespace carillon {

inline constexpr size_t kConditionBytesMax = 1000;
inline constexpr int kConditionDepthMax = 32;  // of parentheses and `not`

enum class ConditionOp : uint8_t {
  kWhole,
  kReal,
  kText,
  kTrue,
  kFalse,
  kExitCode,
  kState,
  kOutput,
  kNamed,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIsNull,
  kIsNotNull,
  kNot,
  kAnd,
  kOr,
};

struct ConditionNumber {
  bool is_whole = true;
  int64_t whole = 0;
  double real = 0;  // also set if is_whole
};
// Parses a number as in JSON, without blanks; nullopt for all other texts, and beyond the range.
std::optional<ConditionNumber> ParseConditionNumber(std::string_view text);

// A list or an object: it is not null, and has no other comparison.
struct ConditionTree {
  std::string json;
};
using ConditionValue = std::variant<bool, ConditionNumber, std::string, ConditionTree>;

struct ConditionStep {
  ConditionOp op = ConditionOp::kTrue;
  std::string text = {};  // kText; kOutput, kNamed: the name
  ConditionNumber number = {};
};
// Operands come before their operator, so that an evaluation needs a stack and no recursion.
using ConditionProgram = std::vector<ConditionStep>;

// The names that a condition may have. kRun: exit_code, state and outputs.NAME. kEvent: id,
// source, type, subject, data, data.a.b, data.items.0.
enum class ConditionNames { kRun, kEvent };

Result<ConditionProgram> CompileCondition(std::string_view text,
                                          ConditionNames names = ConditionNames::kRun);

// True for the name of a value of an event: at most 10 parts of letters, digits and _, 200 bytes.
bool IsEventName(std::string_view name);

}  // namespace carillon
