// carillon-executor: runs the jobs of a cluster on one host.
#include "common/process/command_line.h"
#include "common/process/daemon.h"
#include "executor/main/cluster_executor.h"

int main(int argc, char** argv) {
  using namespace carillon;
  int exit_code = 0;
  const auto flags = process::ParseDaemonFlags("The executor of a Carillon cluster on one host",
                                               argc, argv, exit_code);
  if (!flags) return exit_code;
  return process::RunDaemon("carillon-executor",
                            {.file = flags->config_file,
                             .environment = config::ProcessEnvironment(),
                             .flags = flags->overrides},
                            &executor::ClusterExecutor::Start);
}
