#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/runs/commands.h"
#include "common/domain/run/outputs.h"

namespace carillon::cli {
namespace {

struct OutputArguments {
  std::string name;
  std::string value;
};

Failure OutputFileFailure(const std::string& path, const std::string& why) {
  return UsageFailure("cannot write to " + path + ": " + why);
}

// Appends `text` with a single write, after the end of a line that another writer left unfinished.
Status AppendLines(int file, std::string text) {
  struct stat info {};
  if (fstat(file, &info) != 0) return {ErrorCode::kUnavailable, std::strerror(errno)};
  if (!S_ISREG(info.st_mode)) return {ErrorCode::kInvalid, "not a regular file"};
  char last = '\n';
  if (info.st_size > 0 && pread(file, &last, 1, info.st_size - 1) != 1) {
    return {ErrorCode::kUnavailable, std::strerror(errno)};
  }
  if (last != '\n') text.insert(text.begin(), '\n');
  if (static_cast<size_t>(info.st_size) + text.size() > kOutputsBytesMax) {
    return {ErrorCode::kExhausted,
            "the outputs of a run are limited to " + std::to_string(kOutputsBytesMax) + " bytes"};
  }
  const ssize_t written = write(file, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return {};
  return {ErrorCode::kUnavailable, written < 0 ? std::strerror(errno) : "no space left"};
}

Outcome<ExitCode> AddOutput(Session& session, const OutputArguments& arguments) {
  const auto& environment = session.host().environment;
  const auto path = environment.find(kOutputFileVariable);
  if (path == environment.end() || path->second.empty()) {
    return UsageFailure(std::string(kOutputFileVariable) +
                        " is not set: this command works only inside a run");
  }
  if (!IsOutputName(arguments.name)) {
    return UsageFailure("'" + arguments.name +
                        "' is not the name of an output: letters, digits and _, at most 64");
  }
  const Status allowed = CheckOutputs({{arguments.name, arguments.value}});
  if (!allowed.ok()) return UsageFailure("the value is not allowed: " + allowed.error().message);
  const int file = open(path->second.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return OutputFileFailure(path->second, std::strerror(errno));
  const Status appended = AppendLines(file, FormatOutput(arguments.name, arguments.value));
  close(file);
  if (!appended.ok()) return OutputFileFailure(path->second, appended.error().message);
  return ExitCode::kDone;
}

}  // namespace

void AddOutputCommand(CLI::App& app, Session& session) {
  CLI::App* output = app.add_subcommand("output", "Inside a run: add an output to its result");
  const auto a = std::make_shared<OutputArguments>();
  output->add_option("name", a->name, "Name: letters, digits and _")->required();
  output->add_option("value", a->value, "Value; may have several lines")->required();
  session.On(output, [&session, a] { return AddOutput(session, *a); });
}

}  // namespace carillon::cli
