// carillon-warden: runs processes for the executor daemon and outlives it. The daemon starts it;
// users never need to.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "common/adapters/system/system_clock.h"
#include "executor/warden/container/container_driver.h"
#include "executor/warden/process/daemonize.h"
#include "executor/warden/server/warden_server.h"

namespace {

constexpr char kUsage[] =
    "carillon-warden --directory DIR [--run-directory DIR] [--open-files N] [--idle-exit-ms N] "
    "[--foreground]\n"
    "Started by the Carillon executor, one per data directory.\n";

struct Arguments {
  carillon::executor::WardenOptions options;
  bool foreground = false;
  bool valid = true;
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--directory" && i + 1 < argc) {
      arguments.options.directory = argv[++i];
    } else if (argument == "--run-directory" && i + 1 < argc) {
      arguments.options.run_directory = argv[++i];
    } else if (argument == "--open-files" && i + 1 < argc) {
      arguments.options.open_files = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--idle-exit-ms" && i + 1 < argc) {
      arguments.options.idle_exit = std::chrono::milliseconds(std::atoll(argv[++i]));
    } else if (argument == "--foreground") {
      arguments.foreground = true;
    } else {
      arguments.valid = false;
    }
  }
  arguments.valid = arguments.valid && !arguments.options.directory.empty();
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace carillon::executor;
  // The command of an attempt of type container; the warden starts it.
  if (argc == 3 && std::string(argv[1]) == "--container") return RunContainerDriver(argv[2]);
  const Arguments arguments = Parse(argc, argv);
  if (!arguments.valid) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (!arguments.foreground) {
    const carillon::Status status = Daemonize(arguments.options.directory + "/" + kWardenLog);
    if (!status.ok()) {
      std::fprintf(stderr, "carillon-warden: %s\n", status.error().message.c_str());
      return 1;
    }
  }
  const carillon::SystemClock clock;
  auto server = WardenServer::Create(clock, arguments.options);
  if (!server.ok()) {
    // It is no error that another warden holds the directory: two wardens may be started at once.
    if (server.code() == carillon::ErrorCode::kConflict) return 0;
    std::fprintf(stderr, "carillon-warden: %s\n", server.error().message.c_str());
    return 1;
  }
  (*server)->Run();
  return 0;
}
