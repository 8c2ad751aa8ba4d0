#include "cli/standalone.h"

#include "cli/standalone/standalone_server.h"
#include "common/process/daemon.h"

namespace carillon::cli {

int RunStandalone(const StandaloneOptions& options) {
  return process::RunDaemon("carillon standalone",
                            {.file = options.config_file,
                             .environment = config::ProcessEnvironment(),
                             .flags = options.overrides},
                            &StandaloneServer::Start);
}

}  // namespace carillon::cli
