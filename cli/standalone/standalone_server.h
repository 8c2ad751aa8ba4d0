// A complete standalone server: its parts, built over its adapters and running on threads.
//
// Place    The composition root of `carillon standalone`; the picture is in docs/architecture.md.
// Threads  As process::Daemon.
// Errors   Start: the error of the first part that failed, after stopping the parts already
//          started; kUnavailable if `interrupted` returned true.
// Always   No fire and no run happens before every port is bound.
#pragma once

#include <memory>
#include <string>

#include "common/process/daemon.h"

namespace carillon::cli {

class StandaloneServer final : public process::Daemon {
 public:
  // Returns when the server is ready and runtime.json is written, or when `interrupted`
  // returns true.
  static Result<std::unique_ptr<process::Daemon>> Start(const config::Config& config,
                                                        const process::Interrupted& interrupted);
  ~StandaloneServer() override;

  std::string ReadyText() const override;
  Status Supervise() override;
  bool Reload() override;
  // Stops claiming and reports not ready; the API keeps running, so that users can see the runs
  // in progress.
  void BeginDrain() override;
  // True once nothing runs and every result is in the store.
  bool drained() const override;
  // Processes still running are left to the warden and their leases.
  void Stop() override;

 private:
  struct Parts;
  explicit StandaloneServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::cli
