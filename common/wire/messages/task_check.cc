// Sizes and texts that the writer and the reader of a task check alike (task_codec.h).
#include <fmt/format.h>

#include <algorithm>

#include "common/wire/messages/decode_checks.h"
#include "common/wire/messages/task_codec.h"

namespace carillon {
namespace {

// Wider than the limits of a job if templates or Carillon's own variables make a value longer, but
// never more than the receiver can handle.
constexpr size_t kCommandBytesMax = 256u << 10;
constexpr size_t kVariablesMax = 256;
constexpr size_t kNameBytesMax = 128;

Error TooLarge(std::string_view what, size_t size, size_t max, std::string_view unit) {
  return {ErrorCode::kInvalid,
          fmt::format("with the values of this run {} {} {}, and at most {} are possible", what,
                      size, unit, max)};
}

// A process's environment and command are C strings: a NUL would truncate them silently.
Status CheckText(std::string_view what, std::string_view text) {
  if (text.find('\0') == std::string_view::npos) return {};
  return {ErrorCode::kInvalid, std::string(what) + " contains a NUL character"};
}

Status CheckVariables(const TaskMessage& task) {
  const size_t entries = std::max(task.env.size(), task.secret_env.size());
  if (entries > kVariablesMax) return TooLarge("there are", entries, kVariablesMax, "variables");
  size_t bytes = 0;
  for (const auto& [name, value] : task.env) {
    bytes += name.size() + value.size();
    if (!wire::IsEnvironmentName(name)) {
      return {ErrorCode::kInvalid, "the name of a variable is longer than 128 characters"};
    }
    CARILLON_TRY(CheckText("a variable", value));
  }
  size_t secret_bytes = 0;
  for (const auto& [name, pieces] : task.secret_env) {
    secret_bytes += name.size();
    for (const SecretPiece& piece : pieces) secret_bytes += piece.text.size() + piece.secret.size();
  }
  bytes = std::max(bytes, secret_bytes);
  constexpr size_t kMax = wire::kEnvironmentBytesMax;
  if (bytes > kMax) return TooLarge("the variables have", bytes, kMax, "bytes");
  return {};
}

}  // namespace

Status CheckTask(const TaskMessage& task) {
  if (task.command.size() > kCommandBytesMax) {
    return TooLarge("the command has", task.command.size(), kCommandBytesMax, "bytes");
  }
  CARILLON_TRY(CheckText("the command", task.command));
  size_t args_bytes = 0;
  for (const std::string& arg : task.args) {
    args_bytes += arg.size();
    CARILLON_TRY(CheckText("an argument", arg));
  }
  constexpr size_t kArgsMax = wire::kEnvironmentBytesMax;
  if (args_bytes > kArgsMax) return TooLarge("the arguments have", args_bytes, kArgsMax, "bytes");
  if (task.container && !IsRenderedContainer(*task.container)) {
    return {ErrorCode::kInvalid,
            "with the values of this run the container's command or arguments are too long"};
  }
  if (task.handler && task.handler->parameters_json.size() > kHandlerParametersBytesMax) {
    return TooLarge("the parameters have", task.handler->parameters_json.size(),
                    kHandlerParametersBytesMax, "bytes");
  }
  return CheckVariables(task);
}

namespace wire {

bool IsEnvironmentName(std::string_view name) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || name.size() > kNameBytesMax || digit(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return digit(c) || letter(c); });
}

}  // namespace wire
}  // namespace carillon
