#include "common/wire/json/job/script_json.h"

#include <nlohmann/json.hpp>

#include "common/base/nearest.h"
#include "common/domain/line_ends.h"
#include "common/wire/json/json_text.h"
#include "common/wire/json/json_values.h"

namespace carillon {
namespace {

using json_value::Read;
using nlohmann::json;

Status ReadScriptField(std::string_view name, const json& value, const std::string& pointer,
                       ScriptDefinition& script) {
  if (name == "interpreter") {
    std::string text;
    CARILLON_TRY(Read(value, pointer, text));
    const auto interpreter = ParseInterpreter(text);
    if (!interpreter.ok()) return InvalidAt(pointer, interpreter.error().message);
    script.interpreter = *interpreter;
    return {};
  }
  if (name == "body") return Read(value, pointer, script.body);
  if (name != "args") {
    return InvalidAt(pointer, "unknown field '" + std::string(name) + "' in a script" +
                                  DidYouMean(name, {"interpreter", "body", "args"}));
  }
  return Read(value, pointer, script.args);
}

}  // namespace

Status ReadScript(const json& value, const std::string& pointer,
                  std::optional<ScriptDefinition>& out) {
  out.reset();
  if (value.is_null()) return {};
  if (!value.is_object()) return InvalidAt(pointer, "must be an object");
  for (const char* required : {"interpreter", "body"}) {
    if (!value.contains(required)) return InvalidAt(JsonPointer(pointer, required), "is missing");
  }
  ScriptDefinition script;
  for (const auto& [name, entry] : value.items()) {
    CARILLON_TRY(ReadScriptField(name, entry, JsonPointer(pointer, name), script));
  }
  // PowerShell reads both kinds of line ends, and may need its byte order mark.
  if (script.interpreter != Interpreter::kPwsh) {
    script.body = WithUnixLines(WithoutByteOrderMark(std::move(script.body)));
  }
  out = std::move(script);
  return {};
}

json ScriptToJson(const ScriptDefinition& script) {
  return {{"interpreter", Name(script.interpreter)}, {"body", script.body}, {"args", script.args}};
}

}  // namespace carillon
