#include "executor/warden/client/warden_launcher.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>

extern char** environ;

namespace carillon::executor {

std::string DefaultWardenExecutable() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
  if (n <= 0) return "carillon-warden";
  const std::string self(path, static_cast<size_t>(n));
  return self.substr(0, self.rfind('/') + 1) + "carillon-warden";
}

Status LaunchWarden(const WardenCommand& command) {
  std::string program = command.executable;
  std::string directory = command.directory;
  std::string idle_exit = fmt::format("{}", command.idle_exit / 1ms);
  std::string directory_flag = "--directory";
  std::string idle_flag = "--idle-exit-ms";
  std::string run_directory_flag = "--run-directory";
  std::string run_directory = command.run_directory;
  std::vector<char*> arguments = {program.data(), directory_flag.data(), directory.data(),
                                  idle_flag.data(), idle_exit.data()};
  if (!run_directory.empty()) {
    arguments.insert(arguments.end(), {run_directory_flag.data(), run_directory.data()});
  }
  std::string open_files_flag = "--open-files";
  std::string open_files = fmt::format("{}", command.open_files);
  if (command.open_files > 0)
    arguments.insert(arguments.end(), {open_files_flag.data(), open_files.data()});
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    return {ErrorCode::kUnavailable,
            fmt::format("start {}: {}", command.executable, std::strerror(error))};
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    return {ErrorCode::kUnavailable,
            fmt::format("{} ended with {}", command.executable, WEXITSTATUS(status))};
  }
  return {};
}

}  // namespace carillon::executor
