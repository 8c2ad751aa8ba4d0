// A complete standalone server. Builds the adapters and the parts, and runs the parts on threads.
//
// Place    The composition root of `carillon standalone`. docs/architecture.md has a picture.
// Threads  Those of process::Daemon.
// Errors   Start: if a part fails, stops the parts that were started and returns the error of the
//          part; kUnavailable if `interrupted` returned true.
// Always   No run is planned or started before every port is bound.
#pragma once

#include <memory>
#include <string>

#include "common/process/daemon.h"

namespace carillon::cli {

class StandaloneServer final : public process::Daemon {
 public:
  // Returns when the server is ready and runtime.json is written. Returns an error when
  // `interrupted` returns true.
  static Result<std::unique_ptr<process::Daemon>> Start(const config::Config& config,
                                                        const process::Interrupted& interrupted);
  ~StandaloneServer() override;

  std::string ReadyText() const override;
  Status Supervise() override;
  bool Reload() override;
  // Starts no further runs and reports "not ready". The API keeps running, so that users can see
  // the runs in progress.
  void BeginDrain() override;
  // True once nothing runs and every result is in the store.
  bool drained() const override;
  // Processes that are still running are not stopped. The warden kills each of them when its
  // lease ends.
  void Stop() override;

 private:
  struct Parts;
  explicit StandaloneServer(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::cli
