// The executor of one host, on Kafka, ZooKeeper and gRPC. It never touches the database.
//
// Place    The composition root of carillon-executor; the picture is in docs/architecture.md.
// Threads  See process::Daemon.
// Errors   Start: kInvalid names the setting; kConflict if topics differ from the configuration, or
//          if another executor uses the data directory. Brokers may be unavailable at the start.
#pragma once

#include <memory>
#include <string>

#include "common/process/daemon.h"

namespace carillon::executor {

class ClusterExecutor final : public process::Daemon {
 public:
  static Result<std::unique_ptr<process::Daemon>> Start(const config::Config& config,
                                                        const process::Interrupted& interrupted);
  ~ClusterExecutor() override;

  std::string ReadyText() const override;
  // kConflict: another executor with this id is alive, or topics differ from the configuration.
  Status Supervise() override;
  void BeginDrain() override;
  bool drained() const override;
  // Processes that still run are left to the warden, which enforces their leases.
  void Stop() override;

 private:
  struct Parts;
  explicit ClusterExecutor(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::executor
