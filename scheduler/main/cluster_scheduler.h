// One member of a cluster, built on MySQL, Kafka, ZooKeeper and gRPC.
//
// Place    The composition root of carillon-scheduler. docs/architecture.md has the picture.
// Threads  As process::Daemon.
// Errors   Start: kInvalid names the setting. kConflict: the topics or the schema are not
//          compatible with this configuration or version. Start waits for a store or ZooKeeper that
//          is unavailable. It does not wait for Kafka, because the bus is opened later.
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
  // kConflict: topics that are not compatible with the configuration were found after the start, or
  // an upgrade to a version that this program does not know was finished.
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
