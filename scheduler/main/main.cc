// carillon-scheduler: one member of a cluster.
#include "common/process/command_line.h"
#include "common/process/daemon.h"
#include "scheduler/main/cluster_scheduler.h"

int main(int argc, char** argv) {
  using namespace carillon;
  int exit_code = 0;
  const auto flags = process::ParseDaemonFlags("A member of a Carillon cluster's scheduler", argc,
                                               argv, exit_code);
  if (!flags) return exit_code;
  return process::RunDaemon("carillon-scheduler",
                            {.file = flags->config_file,
                             .environment = config::ProcessEnvironment(),
                             .flags = flags->overrides},
                            &scheduler::ClusterScheduler::Start);
}
