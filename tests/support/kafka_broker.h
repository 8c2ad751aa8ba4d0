// One Kafka broker (and its own controller) for a test.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/java_process.h"
#include "tests/support/process_wait.h"

namespace carillon::test {

class KafkaBroker {
 public:
  KafkaBroker();

  // Formats its directory when that is new. Returns at once; clients wait by themselves.
  void Start();
  std::string bootstrap() const { return "127.0.0.1:" + std::to_string(port_); }
  uint16_t port() const { return port_; }
  std::string log() const { return ReadFile(log_path_); }
  JavaProcess& process() { return *process_; }

 private:
  std::string WriteConfig() const;

  const ScratchDirectory scratch_;
  const std::string log_path_;
  const uint16_t port_;
  const uint16_t controller_port_;
  std::unique_ptr<JavaProcess> process_;
};

}  // namespace carillon::test
