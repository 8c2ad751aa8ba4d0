// The executor of one host, built over Kafka, ZooKeeper and gRPC. It never touches the database.
//
// Place    The composition root of carillon-executor; the picture is in docs/architecture.md.
// Threads  As process::Daemon.
// Errors   Start: kInvalid names the setting; kConflict for topics that are not as configured, or
//          when another executor uses the data directory. Brokers that are away are opened
//          later.
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
  // kConflict: another executor with this id is alive, or topics that are not as configured.
  Status Supervise() override;
  void BeginDrain() override;
  bool drained() const override;
  // Processes that still run are left to the warden and their leases.
  void Stop() override;

 private:
  struct Parts;
  explicit ClusterExecutor(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::executor
