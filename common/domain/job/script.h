// The script of a job of type script: its text, the program that reads it, and its arguments. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/domain/features.h"

namespace carillon {

enum class Interpreter { kSh, kBash, kPython3, kPerl, kNode, kPhp, kPwsh };
// "sh", "python3", …: the name of the program, too.
std::string_view Name(Interpreter value);
Result<Interpreter> ParseInterpreter(std::string_view text);
const std::vector<Interpreter>& AllInterpreters();
// The suffix that the interpreter expects of its files, such as ".py".
std::string_view SuffixOf(Interpreter interpreter);
Feature FeatureOf(Interpreter interpreter);
// The interpreter that the first line of `text` ("#!/usr/bin/env python3") or else the suffix of
// `file_name` names.
std::optional<Interpreter> InterpreterOf(std::string_view file_name, std::string_view text);

struct ScriptDefinition {
  Interpreter interpreter = Interpreter::kSh;
  std::string body = {};               // 1-262,144 bytes; no template, because braces are code
  std::vector<std::string> args = {};  // <= 100 templates of <= 32,768 bytes each

  bool operator==(const ScriptDefinition&) const = default;
};

inline constexpr size_t kScriptBytesMax = 256u << 10;
inline constexpr size_t kScriptArgsMax = 100;
inline constexpr size_t kScriptArgBytesMax = 32'768;

// The mistakes of a script, each with a pointer such as "/script/args/0".
std::vector<Error> FindScriptMistakes(const ScriptDefinition& script);

}  // namespace carillon
