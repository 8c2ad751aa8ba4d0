// Everything of a standalone server, built over its adapters and running on threads.
//
// Place    The composition root of `carillon standalone`; the picture is in docs/architecture.md.
// Threads  As process::Daemon.
// Errors   Start: as the first part that failed; what was started is stopped again. kUnavailable
//          when `interrupted` said so.
// Always   Nothing fires and nothing runs before every port is bound.
#pragma once

#include <memory>
#include <string>

#include "common/process/daemon.h"

namespace carillon::cli {

class StandaloneServer final : public process::Daemon {
 public:
  // Returns when the server is ready and runtime.json is written, or `interrupted` returns true.
  static Result<std::unique_ptr<process::Daemon>> Start(const config::Config& config,
                                                        const process::Interrupted& interrupted);
  ~StandaloneServer() override;

  std::string ReadyText() const override;
  Status Supervise() override;
  bool Reload() override;
  // No new claims, and not ready any more; the API goes on, so that people see what is waited for.
  void BeginDrain() override;
  // True once nothing runs and every result is in the store.
  bool drained() const override;
  // Processes that still run are left to the warden and their leases.
  void Stop() override;

 private:
  struct Parts;
  explicit StandaloneServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::cli
