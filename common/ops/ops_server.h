// The ops port: /livez, /readyz[?verbose], /healthz, /metrics. No token, so loopback unless told
// otherwise, and nothing that changes anything.
//
// Threads  As HttpServer, and a loop for each check: checks may block, requests never wait for one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/adapters/http/http_server.h"
#include "common/base/metrics.h"
#include "common/ops/ready_probe.h"

namespace carillon::ops {

struct OpsOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8642;  // 0 = any
  bool allow_beyond_loopback = false;
};

// What the ops port serves. References outlive the server.
struct OpsContext {
  Metrics& metrics;
  const Clock& clock;
  std::vector<ReadyCheck> ready = {};  // all must pass for /readyz and /healthz
};

class OpsHandler;

class OpsServer {
 public:
  // Returns when each check has answered once or was given up.
  static Result<std::unique_ptr<OpsServer>> Start(const OpsOptions& options, OpsContext context);
  ~OpsServer();

  uint16_t port() const;
  std::string url() const;
  // After the checks in progress; nothing of the context is used any more.
  void Stop();

 private:
  explicit OpsServer(std::unique_ptr<OpsHandler> handler);

  const std::unique_ptr<OpsHandler> handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace carillon::ops
