#include "common/domain/job/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/domain/enum_names.h"
#include "common/domain/job_text.h"
#include "common/domain/line_ends.h"

namespace carillon {
namespace {

struct InterpreterRow {
  Interpreter interpreter;
  std::string_view suffix;
  Feature feature;
};
// PowerShell and PHP refuse or misread files with another suffix.
constexpr std::array<InterpreterRow, 7> kInterpreterRows{
    {{Interpreter::kSh, ".sh", Feature::kScriptSh},
     {Interpreter::kBash, ".sh", Feature::kScriptBash},
     {Interpreter::kPython3, ".py", Feature::kScriptPython3},
     {Interpreter::kPerl, ".pl", Feature::kScriptPerl},
     {Interpreter::kNode, ".js", Feature::kScriptNode},
     {Interpreter::kPhp, ".php", Feature::kScriptPhp},
     {Interpreter::kPwsh, ".ps1", Feature::kScriptPwsh}}};
constexpr std::array<NameOf<Interpreter>, 7> kInterpreterNames{{{Interpreter::kSh, "sh"},
                                                                {Interpreter::kBash, "bash"},
                                                                {Interpreter::kPython3, "python3"},
                                                                {Interpreter::kPerl, "perl"},
                                                                {Interpreter::kNode, "node"},
                                                                {Interpreter::kPhp, "php"},
                                                                {Interpreter::kPwsh, "pwsh"}}};

const InterpreterRow& RowOf(Interpreter interpreter) {
  return kInterpreterRows.at(static_cast<size_t>(interpreter));
}

void CheckTextOf(std::string pointer, std::string_view text, size_t bytes_max,
                 std::vector<Error>& mistakes) {
  std::string fault = TextFault(text, bytes_max);
  if (!fault.empty()) mistakes.push_back(InvalidAt(std::move(pointer), std::move(fault)));
}

}  // namespace

std::string_view Name(Interpreter value) { return NameIn(kInterpreterNames, value); }
Result<Interpreter> ParseInterpreter(std::string_view text) {
  return ValueIn(kInterpreterNames, text);
}

const std::vector<Interpreter>& AllInterpreters() {
  static const std::vector<Interpreter> all = [] {
    std::vector<Interpreter> listed;
    for (const InterpreterRow& row : kInterpreterRows) listed.push_back(row.interpreter);
    return listed;
  }();
  return all;
}

std::string_view SuffixOf(Interpreter interpreter) { return RowOf(interpreter).suffix; }
Feature FeatureOf(Interpreter interpreter) { return RowOf(interpreter).feature; }

std::optional<Interpreter> InterpreterOf(std::string_view file_name, std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.starts_with("#!")) {
    std::string_view line = text.substr(0, text.find('\n'));
    // The program, or the argument of env; other arguments are left out.
    for (size_t begin = 2; begin < line.size();) {
      const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
      const std::string_view word = line.substr(begin, end - begin);
      const std::string_view name = word.substr(word.rfind('/') + 1);
      begin = end + 1;
      if (const auto known = ParseInterpreter(name); known.ok()) return *known;
      if (!name.empty() && name != "env" && !name.starts_with('-')) return std::nullopt;
    }
    return std::nullopt;
  }
  for (const InterpreterRow& row : kInterpreterRows) {
    if (file_name.ends_with(row.suffix)) return row.interpreter;
  }
  return std::nullopt;
}

std::vector<Error> FindScriptMistakes(const ScriptDefinition& script) {
  std::vector<Error> mistakes;
  if (script.body.empty()) {
    mistakes.push_back(
        {ErrorCode::kInvalid, "a script job needs the text of its script", "/script/body"});
  }
  CheckTextOf("/script/body", script.body, kScriptBytesMax, mistakes);
  if (script.args.size() > kScriptArgsMax) {
    mistakes.push_back(
        {ErrorCode::kInvalid,
         fmt::format("has {} entries; at most {} are allowed", script.args.size(), kScriptArgsMax),
         "/script/args"});
    return mistakes;
  }
  for (size_t i = 0; i < script.args.size(); ++i) {
    CheckTextOf(fmt::format("/script/args/{}", i), script.args[i], kScriptArgBytesMax, mistakes);
  }
  return mistakes;
}

}  // namespace carillon
