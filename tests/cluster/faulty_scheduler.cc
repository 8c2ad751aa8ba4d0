// A carillon-scheduler that stops itself (SIGSTOP) between the fence and the commit of a
// transaction. It does so once each time a test creates the file `stop-after-fence` in its working
// directory. It takes the same arguments as carillon-scheduler.
#include <signal.h>
#include <unistd.h>

#include "common/process/command_line.h"
#include "common/process/daemon.h"
#include "scheduler/main/cluster_scheduler.h"
#include "tests/support/failpoint_on.h"

int main(int argc, char** argv) {
  using namespace carillon;
  int exit_code = 0;
  const auto flags =
      process::ParseDaemonFlags("A scheduler that a test stops", argc, argv, exit_code);
  if (!flags) return exit_code;
  failpoint::Arm("mysql.after_fence", [] {
    if (unlink("stop-after-fence") == 0) raise(SIGSTOP);
    return false;
  });
  return process::RunDaemon("faulty-scheduler",
                            {.file = flags->config_file,
                             .environment = config::ProcessEnvironment(),
                             .flags = flags->overrides},
                            &scheduler::ClusterScheduler::Start);
}
