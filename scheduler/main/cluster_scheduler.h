// One member of a cluster, built over MySQL, Kafka, ZooKeeper and gRPC.
//
// Place    The composition root of carillon-scheduler; the picture is in docs/architecture.md.
// Threads  As process::Daemon.
// Errors   Start: kInvalid names the setting; kConflict for topics or a schema that are not ours. A
//          store or ensemble that is away is waited for; brokers that are away are opened later.
#pragma once

#include <memory>
#include <string>

#include "common/process/daemon.h"

namespace carillon::scheduler {

class ClusterScheduler final : public process::Daemon {
 public:
  static Result<std::unique_ptr<process::Daemon>> Start(const config::Config& config,
                                                        const process::Interrupted& interrupted);
  ~ClusterScheduler() override;

  std::string ReadyText() const override;
  // Topics that are not ours, found after the start.
  Status Supervise() override;
  bool Reload() override;
  void BeginDrain() override;
  bool drained() const override { return true; }
  void Stop() override;

 private:
  struct Parts;
  explicit ClusterScheduler(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace carillon::scheduler
