#include "common/domain/condition/condition_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/nearest.h"
#include "common/domain/job_text.h"
#include "common/domain/run/run.h"

namespace carillon {
namespace {

constexpr std::string_view kOutputPrefix = "outputs.";
constexpr std::string_view kEventPrefix = "event.";
constexpr std::string_view kDataName = "data";
constexpr size_t kEventNameBytesMax = 200;
constexpr size_t kEventNamePartsMax = 10;
constexpr size_t kWordShownMax = 40;
constexpr std::array kFinalStates{RunState::kCompleted, RunState::kFailed, RunState::kTimedOut,
                                  RunState::kCancelled, RunState::kLost,   RunState::kSkipped};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsWordByte(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

class ConditionParser {
 public:
  ConditionParser(std::string_view text, ConditionNames names) : text_(text), names_(names) {}

  Result<ConditionProgram> Parse() {
    SkipSpace();
    if (at_ == text_.size()) return Wrong("expected a condition");
    CARILLON_ASSIGN_OR_RETURN(const Operand whole, ReadOr());
    if (at_ != text_.size()) return Wrong("expected and, or, or the end of the condition");
    CARILLON_TRY(CheckCondition(whole));
    return std::move(program_);
  }

 private:
  using Op = ConditionOp;
  // kOutput: also a value of an event, whose type is known only when the event comes.
  enum class Type { kBoolean, kNumber, kExitCode, kText, kState, kOutput, kNull };
  struct Operand {
    Type type = Type::kBoolean;
    size_t at = 0;          // of its first byte
    std::string text = {};  // kText
  };

  Error WrongAt(size_t at, std::string_view what) const {
    return {ErrorCode::kInvalid, fmt::format("at character {}: {}", at + 1, what)};
  }
  Error Wrong(std::string_view what) const { return WrongAt(at_, what); }

  void Emit(Op op) { program_.push_back({.op = op}); }

  Result<Operand> ReadOr() { return ReadChain("or", Op::kOr); }

  Result<Operand> ReadChain(std::string_view word, Op op) {
    const auto read = [&] { return op == Op::kOr ? ReadChain("and", Op::kAnd) : ReadNot(); };
    CARILLON_ASSIGN_OR_RETURN(Operand left, read());
    while (TakeWord(word)) {
      CARILLON_TRY(CheckCondition(left));
      CARILLON_ASSIGN_OR_RETURN(const Operand right, read());
      CARILLON_TRY(CheckCondition(right));
      Emit(op);
      left.type = Type::kBoolean;
    }
    return left;
  }

  Result<Operand> ReadNot() {
    const size_t begin = at_;
    if (!TakeWord("not")) return ReadComparison();
    CARILLON_TRY(Deeper());
    CARILLON_ASSIGN_OR_RETURN(const Operand operand, ReadNot());
    --depth_;
    CARILLON_TRY(CheckCondition(operand));
    Emit(Op::kNot);
    return Operand{.type = Type::kBoolean, .at = begin};
  }

  Result<Operand> ReadComparison() {
    CARILLON_ASSIGN_OR_RETURN(Operand left, ReadOperand());
    const size_t at = at_;
    const auto op = TakeComparison();
    if (!op) return left;
    CARILLON_ASSIGN_OR_RETURN(const Operand right, ReadOperand());
    CARILLON_TRY(CheckComparison(*op, at, left, right));
    if (left.type == Type::kNull || right.type == Type::kNull) {
      Emit(*op == Op::kEqual ? Op::kIsNull : Op::kIsNotNull);
    } else {
      Emit(*op);
    }
    const size_t after = at_;
    if (TakeComparison()) return WrongAt(after, "comparisons cannot be chained; join two by and");
    return Operand{.type = Type::kBoolean, .at = left.at};
  }

  Result<Operand> ReadOperand() {
    if (at_ == text_.size()) return Wrong("expected a value");
    const size_t begin = at_;
    const char c = text_[at_];
    if (c == '(') return ReadParentheses();
    if (c == '\'' || c == '"') return ReadText(c);
    if (IsDigit(c) || c == '-') return ReadNumber();
    const std::string_view word = PeekWord();
    if (word.empty()) return Wrong("expected a value");
    at_ += word.size();
    SkipSpace();
    return ReadName(word, begin);
  }

  Result<Operand> ReadParentheses() {
    CARILLON_TRY(Deeper());
    const size_t begin = at_++;
    SkipSpace();
    CARILLON_ASSIGN_OR_RETURN(Operand inner, ReadOr());
    if (at_ == text_.size() || text_[at_] != ')') {
      return WrongAt(begin, "this parenthesis is not closed");
    }
    ++at_;
    --depth_;
    SkipSpace();
    inner.at = begin;
    return inner;
  }

  Result<Operand> ReadText(char quote) {
    const size_t begin = at_++;
    Operand operand{.type = Type::kText, .at = begin};
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] == '\\' && ++at_ < text_.size() && text_[at_] != quote && text_[at_] != '\\') {
        return Wrong("only a quotation mark or \\ may follow \\");
      }
      if (at_ < text_.size()) operand.text += text_[at_];
    }
    if (at_ >= text_.size()) return WrongAt(begin, "this quotation mark is not closed");
    ++at_;
    SkipSpace();
    program_.push_back({.op = Op::kText, .text = operand.text});
    return operand;
  }

  Result<Operand> ReadNumber() {
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (IsWordByte(text_[at_]) || text_[at_] == '-' || text_[at_] == '+')) {
      ++at_;
    }
    const auto number = ParseConditionNumber(text_.substr(begin, at_ - begin));
    if (!number) return WrongAt(begin, "this is not a number");
    SkipSpace();
    program_.push_back({.op = number->is_whole ? Op::kWhole : Op::kReal, .number = *number});
    return Operand{.type = Type::kNumber, .at = begin};
  }

  Result<Operand> ReadName(std::string_view word, size_t begin) {
    if (word == "true" || word == "false") {
      Emit(word == "true" ? Op::kTrue : Op::kFalse);
      return Operand{.type = Type::kBoolean, .at = begin};
    }
    // Compiled as kIsNull of the other operand.
    if (word == "null") return Operand{.type = Type::kNull, .at = begin};
    return names_ == ConditionNames::kEvent ? ReadEventName(word, begin) : ReadRunName(word, begin);
  }

  Result<Operand> ReadEventName(std::string_view word, size_t begin) {
    if (!IsEventName(word)) return WrongAt(begin, UnknownEventName(word));
    program_.push_back({.op = Op::kNamed, .text = std::string(word)});
    return Operand{.type = Type::kOutput, .at = begin};
  }

  static std::string UnknownEventName(std::string_view word) {
    const std::string_view shown = word.substr(0, kWordShownMax);
    const std::string_view first = word.substr(0, word.find('.'));
    if (first == kDataName) {
      return fmt::format(
          "'{}' is no name of a value of the event: it has at most {} parts of letters, digits "
          "and _, with a dot between two of them, and {} bytes",
          shown, kEventNamePartsMax, kEventNameBytesMax);
    }
    std::string meant =
        DidYouMean(first, {"id", "source", "type", "subject", "data", "true", "false", "null"});
    if (word.starts_with(kEventPrefix) && IsEventName(word.substr(kEventPrefix.size()))) {
      meant = fmt::format("; did you mean '{}'?", word.substr(kEventPrefix.size()));
    }
    return fmt::format(
        "unknown name '{}'{}; a value of the event is id, source, type, subject, data or "
        "data.NAME, and texts are written in quotation marks",
        shown, meant);
  }

  Result<Operand> ReadRunName(std::string_view word, size_t begin) {
    if (word == "exit_code") {
      Emit(Op::kExitCode);
      return Operand{.type = Type::kExitCode, .at = begin};
    }
    if (word == "state") {
      Emit(Op::kState);
      return Operand{.type = Type::kState, .at = begin};
    }
    if (word.starts_with(kOutputPrefix) && IsVariableName(word.substr(kOutputPrefix.size()))) {
      program_.push_back(
          {.op = Op::kOutput, .text = std::string(word.substr(kOutputPrefix.size()))});
      return Operand{.type = Type::kOutput, .at = begin};
    }
    return WrongAt(
        begin,
        fmt::format("unknown name '{}'{}; a name is exit_code, state or "
                    "outputs.NAME, and texts are written in quotation marks",
                    word.substr(0, kWordShownMax),
                    DidYouMean(word, {"exit_code", "state", "true", "false", "null", "outputs"})));
  }

  Status CheckCondition(const Operand& operand) const {
    if (operand.type == Type::kBoolean || operand.type == Type::kOutput) return {};
    return WrongAt(operand.at,
                   fmt::format("expected a condition; this is {}", Described(operand.type)));
  }

  Status CheckComparison(Op op, size_t at, const Operand& left, const Operand& right) const {
    const bool equality = op == Op::kEqual || op == Op::kNotEqual;
    if (left.type == Type::kNull || right.type == Type::kNull) {
      const Type other = left.type == Type::kNull ? right.type : left.type;
      if (!equality) return WrongAt(at, "null is compared by == or != only");
      if (other == Type::kExitCode || other == Type::kOutput) return {};
      return WrongAt(at, names_ == ConditionNames::kEvent
                             ? "only a value of the event can be null"
                             : "only exit_code and outputs can be null");
    }
    if (left.type == Type::kState || right.type == Type::kState) {
      return CheckState(op, at, left, right);
    }
    const Type first = left.type == Type::kExitCode ? Type::kNumber : left.type;
    const Type second = right.type == Type::kExitCode ? Type::kNumber : right.type;
    const bool fits = first == second || first == Type::kOutput || second == Type::kOutput;
    if (!fits) {
      return WrongAt(
          at, fmt::format("{} is compared with {}", Described(left.type), Described(right.type)));
    }
    const Type type = first == Type::kOutput ? second : first;
    if (equality || type == Type::kNumber || type == Type::kOutput) return {};
    return WrongAt(at, fmt::format("{} is compared by == or != only", Described(type)));
  }

  Status CheckState(Op op, size_t at, const Operand& left, const Operand& right) const {
    const Operand& other = left.type == Type::kState ? right : left;
    if (other.type != Type::kText) {
      return WrongAt(at, "state is compared with a text such as \"FAILED\" only");
    }
    if (op != Op::kEqual && op != Op::kNotEqual) {
      return WrongAt(at, "state is compared by == or != only");
    }
    std::vector<std::string_view> known;
    for (const RunState state : kFinalStates) known.push_back(Name(state));
    if (std::find(known.begin(), known.end(), other.text) != known.end()) return {};
    const std::string upper = AsciiUpper(other.text);
    const bool only_case = std::find(known.begin(), known.end(), upper) != known.end();
    return WrongAt(other.at, fmt::format("'{}' is not one of {}{}",
                                         std::string_view(other.text).substr(0, kWordShownMax),
                                         fmt::join(known, ", "),
                                         only_case ? fmt::format("; did you mean '{}'?", upper)
                                                   : DidYouMean(upper, known)));
  }

  std::string_view Described(Type type) const {
    switch (type) {
      case Type::kBoolean: return "true or false";
      case Type::kNumber: return "a number";
      case Type::kExitCode: return "exit_code";
      case Type::kText: return "a text";
      case Type::kState: return "state";
      case Type::kOutput:
        return names_ == ConditionNames::kEvent ? "a value of the event" : "an output";
      case Type::kNull: return "null";
    }
    return "";
  }

  Status Deeper() {
    if (++depth_ <= kConditionDepthMax) return {};
    return Wrong(fmt::format("nested deeper than {}", kConditionDepthMax));
  }

  std::optional<Op> TakeComparison() {
    constexpr std::array<std::pair<std::string_view, Op>, 6> kOps{{{"==", Op::kEqual},
                                                                   {"!=", Op::kNotEqual},
                                                                   {"<=", Op::kLessEqual},
                                                                   {">=", Op::kGreaterEqual},
                                                                   {"<", Op::kLess},
                                                                   {">", Op::kGreater}}};
    for (const auto& [sign, op] : kOps) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      SkipSpace();
      return op;
    }
    return std::nullopt;
  }

  std::string_view PeekWord() const {
    size_t end = at_;
    while (end < text_.size() && IsWordByte(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  bool TakeWord(std::string_view word) {
    if (PeekWord() != word) return false;
    at_ += word.size();
    SkipSpace();
    return true;
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  const std::string_view text_;
  const ConditionNames names_;
  size_t at_ = 0;
  int depth_ = 0;
  ConditionProgram program_;
};

}  // namespace

// A number as in JSON, without blanks; nullopt for all other texts.
std::optional<ConditionNumber> ParseConditionNumber(std::string_view text) {
  const bool plausible =
      !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (!plausible) return std::nullopt;
  const char* const end = text.data() + text.size();
  ConditionNumber number;
  const auto whole = std::from_chars(text.data(), end, number.whole);
  number.is_whole = whole.ec == std::errc() && whole.ptr == end;
  const auto real = std::from_chars(text.data(), end, number.real);
  if (real.ec != std::errc() || real.ptr != end) return std::nullopt;
  return number;
}

bool IsEventName(std::string_view name) {
  if (name.size() > kEventNameBytesMax) return false;
  if (name == "id" || name == "source" || name == "type" || name == "subject") return true;
  size_t parts = 1;
  std::string_view left = name.substr(0, name.find('.'));
  if (left != kDataName) return false;
  name.remove_prefix(left.size());
  for (; !name.empty(); ++parts) {
    name.remove_prefix(1);  // the dot
    left = name.substr(0, name.find('.'));
    if (left.empty() || !std::all_of(left.begin(), left.end(), IsWordByte)) return false;
    name.remove_prefix(left.size());
  }
  return parts <= kEventNamePartsMax;
}

Result<ConditionProgram> CompileCondition(std::string_view text, ConditionNames names) {
  if (text.size() > kConditionBytesMax) {
    return Error{ErrorCode::kInvalid, fmt::format("has {} bytes; at most {} are allowed",
                                                  text.size(), kConditionBytesMax)};
  }
  if (!CountUtf8(text)) return Error{ErrorCode::kInvalid, "is not valid UTF-8"};
  return ConditionParser(text, names).Parse();
}

}  // namespace carillon
