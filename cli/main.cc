// The `carillon` command: builds the real environment and runs the command line.
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "cli/backup.h"
#include "cli/commands/cli.h"
#include "cli/standalone.h"
#include "common/adapters/system/system_clock.h"
#include "common/base/version.h"

namespace carillon::cli {
namespace {

void Wait(Duration time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  poll(nullptr, 0, static_cast<int>(ms));
}

std::string Editor() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') return value;
  }
  return "vi";
}

// Opens the file in the editor. A shell runs the command, because $EDITOR may contain arguments
// ("code --wait"). The name of the file is passed as $1, so that the shell does not split it.
Status Edit(const std::string& file) {
  const std::string command = Editor() + " \"$1\"";
  const pid_t child = fork();
  if (child < 0) return {ErrorCode::kUnavailable, "cannot start the editor"};
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), "sh", file.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return {ErrorCode::kInvalid, "the editor '" + Editor() + "' failed; nothing was changed"};
  }
  return {};
}

// Reads a line without echo. If the process is killed while it reads, the echo stays off.
Result<std::string> ReadPasswordFrom(const std::string& prompt) {
  termios before{};
  if (tcgetattr(STDIN_FILENO, &before) != 0) {
    return {ErrorCode::kInvalid, "cannot read the terminal settings"};
  }
  termios silent = before;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  std::cerr << prompt << std::flush;
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  std::string password;
  std::getline(std::cin, password);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
  std::cerr << "\n";
  return password;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // `carillon … | head` then ends with an error message
  std::ios::sync_with_stdio(false);
  const SystemClock clock;
  Host host{.environment = config::ProcessEnvironment(),
            .in = std::cin,
            .out = std::cout,
            .err = std::cerr,
            .in_is_tty = isatty(STDIN_FILENO) == 1,
            .out_is_tty = isatty(STDOUT_FILENO) == 1,
            .clock = clock,
            .wait = &Wait,
            .transport = &MakeHttpTransport,
            .read_password = &ReadPasswordFrom,
            .edit = &Edit,
            .standalone =
                [](const StandaloneArguments& arguments) {
                  return RunStandalone(
                      {.config_file = arguments.config_file, .overrides = arguments.overrides});
                },
            .create_backup = &CreateBackup,
            .restore_target = &RestoreTarget,
            .restore_backup = &RestoreBackup,
            .seed = RandomSeed(),
            .version = kVersion};
  return RunCommandLine({argv + 1, argv + argc}, host);
}

}  // namespace
}  // namespace carillon::cli

int main(int argc, char** argv) { return carillon::cli::Main(argc, argv); }
