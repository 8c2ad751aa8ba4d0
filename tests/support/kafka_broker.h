// A Kafka broker, with its own controller, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/java_process.h"
#include "tests/support/process_wait.h"

namespace carillon::test {

// Settings of the listeners with TLS. All files are PEM.
struct KafkaSecurity {
  std::string keystore_file;  // the broker's key and certificate
  std::string ca_file;        // the authority that signed clients' certificates
  std::string user;           // for SASL
  std::string password;       // for SASL
};

class KafkaBroker {
 public:
  KafkaBroker();
  explicit KafkaBroker(const KafkaSecurity& security);

  // Starts the broker; formats its directory if that is new. Returns before the
  // broker accepts connections.
  void Start();
  std::string bootstrap() const { return "127.0.0.1:" + std::to_string(port_); }
  uint16_t port() const { return port_; }
  // Addresses that exist with KafkaSecurity. tls(): TLS. mutual(): TLS with a client certificate.
  // The third: TLS and SASL.
  std::string tls() const { return "127.0.0.1:" + std::to_string(tls_port_); }
  std::string mutual() const { return "127.0.0.1:" + std::to_string(mutual_port_); }
  std::string sasl() const { return "127.0.0.1:" + std::to_string(sasl_port_); }
  std::string log() const { return ReadFile(log_path_); }
  JavaProcess& process() { return *process_; }

 private:
  bool secured() const { return !security_.user.empty(); }
  std::string WriteConfig() const;
  std::string Doors() const;
  std::string SecurityConfig() const;

  const ScratchDirectory scratch_;
  const std::string log_path_;
  const uint16_t port_;
  const uint16_t controller_port_;
  const KafkaSecurity security_;
  const uint16_t tls_port_;
  const uint16_t mutual_port_;
  const uint16_t sasl_port_;
  std::unique_ptr<JavaProcess> process_;
};

}  // namespace carillon::test
