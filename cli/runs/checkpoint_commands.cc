// Commands inside a run: `progress`, and `checkpoint save` and `load`. They need no server.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ostream>

#include "cli/runs/commands.h"
#include "common/domain/run/run_save.h"
#include "common/wire/json/progress_text.h"

namespace carillon::cli {
namespace {

struct ProgressArguments {
  std::string percent;
  std::string text;
};

Outcome<std::string> FileOfRun(Session& session, const char* variable) {
  const auto& environment = session.host().environment;
  const auto path = environment.find(variable);
  if (path != environment.end() && !path->second.empty()) return path->second;
  return UsageFailure(std::string(variable) + " is not set: this command works only inside a run");
}

Status WriteWhole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return {ErrorCode::kUnavailable, std::strerror(errno)};
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// Writes beside the file and renames, so that nobody reads a part.
Outcome<ExitCode> ReplaceFile(const std::string& path, const std::string& bytes) {
  const std::string beside = path + "." + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Status done =
      file < 0 ? Status{ErrorCode::kUnavailable, std::strerror(errno)} : WriteWhole(file, bytes);
  if (file >= 0) close(file);
  if (done.ok() && rename(beside.c_str(), path.c_str()) != 0) {
    done = {ErrorCode::kUnavailable, std::strerror(errno)};
  }
  if (done.ok()) return ExitCode::kDone;
  unlink(beside.c_str());
  return UsageFailure("cannot write to " + path + ": " + done.error().message);
}

Outcome<ExitCode> SetProgress(Session& session, const ProgressArguments& arguments) {
  CARILLON_ASSIGN_OR_RETURN(const std::string path, FileOfRun(session, kProgressFileVariable));
  const auto progress = ParseProgress(arguments.percent + " " + arguments.text);
  if (!progress.ok() || arguments.percent.empty() || arguments.percent.front() == '{') {
    return UsageFailure(progress.ok() ? "the percentage is not a number"
                                      : progress.error().message);
  }
  const std::string text = FormatProgress(*progress);
  if (text.size() > kProgressBytesMax) return UsageFailure("the text is larger than 4 KiB");
  return ReplaceFile(path, text);
}

Outcome<ExitCode> SaveCheckpoint(Session& session, const std::string& source) {
  CARILLON_ASSIGN_OR_RETURN(const std::string path, FileOfRun(session, kCheckpointFileVariable));
  CARILLON_ASSIGN_OR_RETURN(const std::string bytes, ReadInput(session.host(), source));
  if (bytes.size() > kCheckpointBytesMax) return UsageFailure("a checkpoint has at most 1 MiB");
  return ReplaceFile(path, bytes);
}

Outcome<ExitCode> LoadCheckpoint(Session& session) {
  CARILLON_ASSIGN_OR_RETURN(const std::string path, FileOfRun(session, kCheckpointFileVariable));
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) {
      return Failure{.exit = ExitCode::kNotFound,
                     .message = "there is no checkpoint: no attempt of this run has saved one",
                     .code = "not_found"};
    }
    return UsageFailure("cannot read " + path + ": " + std::strerror(errno));
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  session.host().out << bytes;
  return ExitCode::kDone;
}

}  // namespace

void AddCheckpointCommands(CLI::App& app, Session& session) {
  CLI::App* progress = app.add_subcommand("progress", "Inside a run: say how far it is");
  const auto said = std::make_shared<ProgressArguments>();
  progress->add_option("percent", said->percent, "0 to 100")->required();
  progress->add_option("text", said->text, "Text for people");
  session.On(progress, [&session, said] { return SetProgress(session, *said); });

  CLI::App* checkpoint =
      app.add_subcommand("checkpoint", "Inside a run: save and load its checkpoint");
  checkpoint->require_subcommand(1);
  CLI::App* save = checkpoint->add_subcommand("save", "Save a file as the checkpoint of the run");
  const auto source = std::make_shared<std::string>();
  save->add_option("file", *source, "File, or - for standard input")->required();
  session.On(save, [&session, source] { return SaveCheckpoint(session, *source); });
  CLI::App* load = checkpoint->add_subcommand("load", "Print the checkpoint of the last attempt");
  session.On(load, [&session] { return LoadCheckpoint(session); });
}

}  // namespace carillon::cli
